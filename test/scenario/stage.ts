/**
 * The other end of the jobs: each announces itself and then waits for its exit status, so that the test and not the
 * clock decides when a job ends and how.
 *
 * A job takes a FIFO for itself, opens it for both directions (so that nothing written is lost and no side blocks), and
 * announces itself with one line in the common FIFO `calls`. Lines shorter than PIPE_BUF arrive whole. The first jobs find FIFOs
 * that are there: a process for each job costs more.
 */
import { chmodSync, closeSync, constants, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { makeFifos, openLineFifo } from './line-fifo.ts';

/** A build that has announced itself. */
export interface StagedBuild {
  readonly uuid: string;
  readonly job: string;
  /** Topics of all that is merged for it, oldest first, separated by blanks. */
  readonly changes: string;
  readonly pipeline: string;
  /** `variables.json` as the job found it. */
  readonly variables: Variables;
}

interface Variables {
  readonly zuul: {
    readonly items: readonly { readonly change?: string; readonly ref: string; readonly newrev?: string }[];
    readonly pipeline: string;
    readonly [name: string]: unknown;
  };
  readonly vars: { readonly [name: string]: unknown };
}

export interface Stage extends Disposable {
  /** All that ever announced themselves, in order. */
  readonly builds: readonly StagedBuild[];
  /** Text of the playbook that takes part. */
  readonly playbook: string;
  /** Called with each build that announces itself. */
  onCall(listener: (build: StagedBuild) => void): void;
  /** False: the job no longer listens, the build was killed. */
  end(uuid: string, exitStatus: number): boolean;
}

/** As many as the jobs of most stories. */
const FIFOS = 30;

/** @param others FIFOs that it makes besides its own. */
export async function openStage(directory: string, others: readonly string[] = []): Promise<Stage> {
  mkdirSync(directory, { recursive: true });
  chmodSync(directory, 0o777);
  const pool = Array.from({ length: FIFOS }, (_, index) => path.join(directory, `${index + 1}.fifo`));
  await makeFifos([path.join(directory, 'calls'), ...pool, ...others]);
  const listeners: ((build: StagedBuild) => void)[] = [];
  const builds: StagedBuild[] = [];
  /** By the build that took it. */
  const fifos = new Map<string, string>();
  const calls = openLineFifo(path.join(directory, 'calls'), line => {
    const { build, fifo } = announced(line);
    fifos.set(build.uuid, fifo);
    builds.push(build);
    for (const listener of listeners) listener(build);
  });
  return {
    builds,
    playbook: playbookText(directory),
    onCall: listener => void listeners.push(listener),
    end(uuid, exitStatus) {
      const fifo = fifos.get(uuid);
      return fifo !== undefined && writeLine(fifo, String(exitStatus));
    },
    [Symbol.dispose]: () => calls[Symbol.dispose](),
  };
}

function playbookText(directory: string): string {
  return [
    '#!/bin/sh',
    'set -eu',
    'number=1',
    '# The first that makes the file has the FIFO.',
    'set -C',
    `while [ $number -le ${FIFOS} ] && ! { true >${directory}/$number.taken; } 2>/dev/null; do`,
    '  number=$((number + 1))',
    'done',
    'set +C',
    `fifo=${directory}/$number.fifo`,
    `if [ $number -gt ${FIFOS} ]; then fifo=${directory}/$ZUUL_BUILD.fifo; mkfifo -m 666 "$fifo"; fi`,
    'exec 3<>"$fifo"',
    `echo "traceparent \${TRACEPARENT-}"`,
    `echo "$ZUUL_BUILD $ZUUL_JOB $ZUUL_VARIABLES_FILE $fifo" >>${directory}/calls`,
    'read -r status <&3',
    'echo "status $status"',
    'exit "$status"',
    '',
  ].join('\n');
}

function announced(line: string): { readonly build: StagedBuild; readonly fifo: string } {
  const [uuid = '', job = '', file = '', fifo = ''] = line.split(' ');
  const variables: Variables = JSON.parse(readFileSync(file, 'utf8'));
  const changes = variables.zuul.items.map(item => topicOf(item)).join(' ');
  return { build: { uuid, job, changes, pipeline: variables.zuul.pipeline, variables }, fifo };
}

/** `master/A` → `A`; other branches keep their name. A ref update is its ref. */
function topicOf(item: Variables['zuul']['items'][number]): string {
  return item.change?.replace(/^master\//, '') ?? item.ref;
}

function writeLine(fifo: string, text: string): boolean {
  let fd: number;
  try {
    fd = openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENXIO' || error.code === 'ENOENT'))
      return false;
    throw error;
  }
  try {
    writeSync(fd, `${text}\n`);
    return true;
  } finally {
    closeSync(fd);
  }
}

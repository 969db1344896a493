/**
 * The other end of the jobs: each announces itself and then waits for its exit status, so that the test and not the
 * clock decides when a job ends and how.
 *
 * A job makes a FIFO of its own, opens it for both directions (so that nothing written is lost and no side blocks), and
 * announces itself with one line in the common FIFO `calls`. Lines shorter than PIPE_BUF arrive whole.
 */
import { chmodSync, closeSync, constants, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { openLineFifo } from './line-fifo.ts';

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

export async function openStage(directory: string): Promise<Stage> {
  mkdirSync(directory, { recursive: true });
  chmodSync(directory, 0o777);
  const listeners: ((build: StagedBuild) => void)[] = [];
  const builds: StagedBuild[] = [];
  const calls = await openLineFifo(path.join(directory, 'calls'), line => {
    const build = announced(line);
    builds.push(build);
    for (const listener of listeners) listener(build);
  });
  return {
    builds,
    playbook: playbookText(directory),
    onCall: listener => void listeners.push(listener),
    end: (uuid, exitStatus) => writeLine(path.join(directory, `${uuid}.fifo`), String(exitStatus)),
    [Symbol.dispose]: () => calls[Symbol.dispose](),
  };
}

function playbookText(directory: string): string {
  return [
    '#!/bin/sh',
    'set -eu',
    `fifo=${directory}/$ZUUL_BUILD.fifo`,
    'mkfifo -m 666 "$fifo"',
    'exec 3<>"$fifo"',
    `echo "traceparent \${TRACEPARENT-}"`,
    `echo "$ZUUL_BUILD $ZUUL_JOB $ZUUL_VARIABLES_FILE" >>${directory}/calls`,
    'read -r status <&3',
    'echo "status $status"',
    'exit "$status"',
    '',
  ].join('\n');
}

function announced(line: string): StagedBuild {
  const [uuid = '', job = '', file = ''] = line.split(' ');
  const variables: Variables = JSON.parse(readFileSync(file, 'utf8'));
  const changes = variables.zuul.items.map(item => topicOf(item)).join(' ');
  return { uuid, job, changes, pipeline: variables.zuul.pipeline, variables };
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

/**
 * A stage that is ready before its job is known: what is the same for all jobs is done ahead of them.
 *
 *     sh: enters the control groups → unshare → sh: the script of the stage ┊ waits on its standard input ┊ the script of the job → bubblewrap
 *
 * To enter a group takes 5 to 20 ms, a grace period of the kernel, in which the one that enters does nothing else: the shell enters by
 * itself, and the spawner serves its jobs meanwhile. It is outside for as long as it is only a shell of ours.
 *
 * Their memory is limited when a job takes the stage: where it starts without, the spawner enters the groups, which must have no limit then.
 *
 * When the spawner has ended the shell reads the end of its input, and ends; its mounts vanish with it.
 */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { killedFirst } from './oom-score.ts';
import { closeWriter, type OutputPipe, type OutputPipes } from './output-pipe.ts';
import type { StageSpec } from './protocol.ts';

/** Waits for its job, or is on its way there. */
export interface ReadyStage {
  readonly child: ChildProcess;
  /** What it prints; its writer is closed. */
  readonly pipe: OutputPipe;
}

/** Those that no job has yet, by their ids. */
export interface ReadyStages {
  prepare(id: number, spec: StageSpec): void;
  /** @returns undefined where it has ended, could not be started, or is not known: the job then starts from its beginning. */
  take(id: number): Promise<ReadyStage | undefined>;
  discard(id: number): void;
  discardAll(): void;
}

/** Arguments: files to enter groups by, `--`, command. 0 is the process that writes. */
const ENTER = `while [ "$1" != -- ]; do echo 0 > "$1"; shift; done
shift
exec "$@"`;

export function createReadyStages(pipes: OutputPipes): ReadyStages {
  const stages = new Map<number, Promise<ReadyStage | undefined>>();

  async function take(id: number): Promise<ReadyStage | undefined> {
    const stage = stages.get(id);
    stages.delete(id);
    return await stage;
  }

  function discard(id: number): void {
    // It ends by itself, at the end of its input.
    void take(id).then(stage => {
      stage?.child.stdin?.end();
      stage?.pipe.reader.destroy();
    });
  }

  return {
    prepare(id, spec) {
      stages.set(id, begin(spec, pipes));
    },
    async take(id) {
      const stage = await take(id);
      if (stage === undefined) return undefined;
      const { child, pipe } = stage;
      if (!hasEnded(child)) return stage;
      pipe.reader.destroy();
      return undefined;
    },
    discard,
    discardAll() {
      for (const id of stages.keys()) discard(id);
    },
  };
}

/** Its `exit` has been emitted. */
export function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** Never rejects: why it cannot be started is for the job to report that starts without it. */
async function begin(spec: StageSpec, pipes: OutputPipes): Promise<ReadyStage | undefined> {
  const pipe = await pipes.take().catch(() => undefined);
  if (pipe === undefined) return undefined;
  try {
    const child = forkStage(spec, pipe);
    // Of a shell that ended early; its exit says so.
    child.stdin?.on('error', () => undefined);
    child.stdin?.write(spec.script);
    return await started(child).then(() => ({ child, pipe }));
  } catch {
    pipe.reader.destroy();
    return undefined;
  } finally {
    closeWriter(pipe);
    pipes.prepare();
  }
}

function started(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
}

/** @throws Error of the file system. */
function forkStage({ argv, env, seccomp, cgroups }: StageSpec, pipe: OutputPipe): ChildProcess {
  const filter = seccomp === undefined ? undefined : openSync(seccomp, 'r');
  try {
    const enter = cgroups.map(({ path }) => join(path, 'cgroup.procs'));
    const args = ['-ec', ENTER, 'gatehouse-stage', ...enter, '--', ...argv];
    return killedFirst(() =>
      spawn('/bin/sh', args, { cwd: '/', env, stdio: stdioOf(pipe, filter), detached: true }),
    );
  } finally {
    if (filter !== undefined) closeSync(filter);
  }
}

/** As a job has them that starts without a stage, but for its script at 0 and secrets that it may not need. */
function stdioOf({ writer }: OutputPipe, filter: number | undefined): StdioOptions {
  return ['pipe', writer, writer, 'pipe', ...(filter === undefined ? [] : [filter]), 'pipe'];
}

/**
 * The service's side of the spawner: the helper process (helper.ts) begins with the first use, and again when it died.
 *
 *     await using spawner = createSpawner({ onCrash: reason => log.warn(reason) });
 *     const job = spawner.start(spec);
 *     job.stop('graceful');
 *     const end = await job.ended;   // never rejects because of what a job does
 */

import type { Server } from 'node:net';
import { giveBack, type Helper, sendTo, takeHelper } from './helper.ts';
import type { ProcessEnd, ProcessSpec, SpawnerFacts, StageSpec, StopMode } from './protocol.ts';

/** A process as the service sees it, from the request to start it on. */
export interface RunningProcess {
  /** Resolves however it ends, also with the helper. */
  readonly ended: Promise<ProcessEnd>;
  /** Harmless when it has ended. May be repeated with a harder mode. */
  stop(mode: StopMode): void;
}

/** A stage for one job, which its `staged` names. */
export interface PreparedStage {
  readonly id: number;
  /** For one that no job has got. */
  discard(): void;
}

/** Starts the processes of one executor. */
export interface Spawner extends AsyncDisposable {
  /**
   * @param onListening gets the socket of a process that passes one; without it, the socket is closed.
   * @param onMatch gets the expression of `failureOutput` that a line matches; called before the process has ended.
   */
  start(
    spec: ProcessSpec,
    onListening?: (socket: Server) => void,
    onMatch?: (source: string) => void,
  ): RunningProcess;
  /** Begins what takes no job to begin; a failure shows in the job alone, which then starts without. */
  prepare(stage: StageSpec): PreparedStage;
  /** Pid of the helper, once it has been started. */
  pid(): number | undefined;
  /** Starts the helper now, while the service is still small. */
  ready(): Promise<SpawnerFacts>;
  /** Kills every job, and the helper with them; one without jobs is kept for a moment for the next executor of this process. */
  close(): Promise<void>;
}

/** How the death of the helper is reported, and how long this process may be silent. */
export interface SpawnerDeps {
  /** The helper ended unexpectedly; its jobs are gone, the next `start` makes a new one. */
  readonly onCrash: (reason: string) => void;
  /** Milliseconds without a sign of life from this process after which jobs are stopped. Default: no limit. */
  readonly silenceLimitMs?: number;
}

/** Starts no process yet: the helper begins with the first `start` or with {@link Spawner.ready}. */
export function createSpawner(deps: SpawnerDeps): Spawner {
  let helper: Helper | undefined;
  let closed = false;

  function current(): Helper {
    helper ??= takeHelper(deps.silenceLimitMs ?? 0, (lost, reason) => {
      if (helper === lost) helper = undefined;
      if (!closed) deps.onCrash(reason);
    });
    return helper;
  }

  function start(
    spec: ProcessSpec,
    onListening?: (socket: Server) => void,
    onMatch?: (source: string) => void,
  ): RunningProcess {
    if (closed) throw new Error('the spawner is closed');
    const mine = current();
    const id = mine.nextId++;
    const { promise, resolve } = Promise.withResolvers<ProcessEnd>();
    mine.pending.set(id, { spec, pid: undefined, onListening, onMatch, settle: resolve });
    sendTo(mine, { type: 'start', id, spec });
    return {
      ended: promise,
      stop(mode) {
        if (mine.pending.has(id)) sendTo(mine, { type: 'stop', id, mode });
      },
    };
  }

  function prepare(stage: StageSpec): PreparedStage {
    if (closed) throw new Error('the spawner is closed');
    const mine = current();
    const id = mine.nextId++;
    sendTo(mine, { type: 'prepare', id, stage });
    return { id, discard: () => sendTo(mine, { type: 'discard', id }) };
  }

  async function close(): Promise<void> {
    closed = true;
    const mine = helper;
    helper = undefined;
    if (mine !== undefined) await giveBack(mine);
  }

  return {
    start,
    prepare,
    pid: () => helper?.child.pid,
    ready: () => current().ready.promise,
    close,
    [Symbol.asyncDispose]: close,
  };
}

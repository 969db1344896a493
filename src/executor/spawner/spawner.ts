/**
 * The service's side of the spawner: starts the helper process once, and again when it died.
 *
 *     await using spawner = createSpawner({ onCrash: reason => log.warn(reason) });
 *     const job = spawner.start(spec);
 *     job.stop('graceful');
 *     const end = await job.ended;   // never rejects because of what a job does
 */

import { type ChildProcess, fork } from 'node:child_process';
import { Server } from 'node:net';
import { assertNever } from '../../lib/assert-never.ts';
import { compileCacheVariable } from '../../lib/compile-cache.ts';
import { ownModule } from '../../lib/own-file.ts';
import type { FromSpawner, ProcessEnd, ProcessSpec, StageSpec, StopMode, ToSpawner } from './protocol.ts';
import { killStrays } from './stray-processes.ts';
import { SIGNS_PER_LIMIT } from './watchdog.ts';

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
  /** Kills every job, then the helper. */
  close(): Promise<void>;
}

/** What the helper detected about this machine. */
interface SpawnerFacts {
  /** Why the kernel does not kill jobs before the service when memory runs out; null: it does. */
  readonly oomScoreProblem: string | null;
}

/** How the death of the helper is reported, and how long this process may be silent. */
export interface SpawnerDeps {
  /** The helper ended unexpectedly; its jobs are gone, the next `start` makes a new one. */
  readonly onCrash: (reason: string) => void;
  /** Milliseconds without a sign of life from this process after which jobs are stopped. Default: no limit. */
  readonly silenceLimitMs?: number;
}

interface Pending {
  readonly spec: ProcessSpec;
  pid: number | undefined;
  readonly onListening: ((socket: Server) => void) | undefined;
  readonly onMatch: ((source: string) => void) | undefined;
  readonly settle: (end: ProcessEnd) => void;
}

interface Helper {
  readonly child: ChildProcess;
  readonly pending: Map<number, Pending>;
  readonly ready: PromiseWithResolvers<SpawnerFacts>;
  readonly gone: PromiseWithResolvers<void>;
}

/** Starts no process yet: the helper begins with the first `start` or with {@link Spawner.ready}. */
export function createSpawner(deps: SpawnerDeps): Spawner {
  let helper: Helper | undefined;
  let nextId = 0;
  let closed = false;

  function current(): Helper {
    helper ??= forkHelper(deps.silenceLimitMs ?? 0, (lost, reason) => {
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
    const id = nextId++;
    const { promise, resolve } = Promise.withResolvers<ProcessEnd>();
    mine.pending.set(id, { spec, pid: undefined, onListening, onMatch, settle: resolve });
    send(mine, { type: 'start', id, spec });
    return {
      ended: promise,
      stop(mode) {
        if (mine.pending.has(id)) send(mine, { type: 'stop', id, mode });
      },
    };
  }

  function prepare(stage: StageSpec): PreparedStage {
    if (closed) throw new Error('the spawner is closed');
    const mine = current();
    const id = nextId++;
    send(mine, { type: 'prepare', id, stage });
    return { id, discard: () => send(mine, { type: 'discard', id }) };
  }

  async function close(): Promise<void> {
    closed = true;
    if (helper === undefined) return;
    const { child, gone } = helper;
    if (child.connected) child.disconnect();
    await gone.promise;
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

function forkHelper(silenceLimitMs: number, onGone: (helper: Helper, reason: string) => void): Helper {
  const child = fork(ownModule('src/executor/spawner/main'), [String(silenceLimitMs)], {
    // Small, quiet, and without the options the service was started with (an inspector, a preload).
    execArgv: ['--max-old-space-size=128', '--disable-warning=ExperimentalWarning'],
    env: {
      PATH: process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
      TMPDIR: process.env.TMPDIR ?? '/tmp',
      ...compileCacheVariable(),
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'json',
  });
  const helper: Helper = {
    child,
    pending: new Map(),
    ready: Promise.withResolvers<SpawnerFacts>(),
    gone: Promise.withResolvers<void>(),
  };
  // No caller may be waiting for it.
  helper.ready.promise.catch(() => undefined);

  const alive =
    silenceLimitMs === 0
      ? undefined
      : setInterval(() => send(helper, { type: 'alive' }), silenceLimitMs / SIGNS_PER_LIMIT);
  alive?.unref();

  let over = false;
  function lost(reason: string): void {
    if (over) return;
    over = true;
    clearInterval(alive);
    for (const { spec, pid, settle } of helper.pending.values()) {
      killGroup(pid);
      killStrays(spec);
      settle({ kind: 'lost', reason });
    }
    helper.pending.clear();
    helper.ready.reject(new Error(reason));
    helper.gone.resolve();
    onGone(helper, reason);
  }

  child.on('message', (message: FromSpawner, socket) => receive(helper, message, socket));
  child.once('error', error => lost(`the process that starts jobs failed: ${error.message}`));
  child.once('exit', (code, signal) =>
    lost(`the process that starts jobs ended (${signal ?? `status ${code}`})`),
  );
  return helper;
}

function receive(helper: Helper, message: FromSpawner, socket: unknown): void {
  switch (message.type) {
    case 'ready':
      helper.ready.resolve({ oomScoreProblem: message.oomScoreProblem });
      break;
    case 'started': {
      const pending = helper.pending.get(message.id);
      if (pending !== undefined) pending.pid = message.pid;
      break;
    }
    case 'listening':
      take(socket, helper.pending.get(message.id)?.onListening);
      send(helper, { type: 'taken', id: message.id });
      break;
    case 'matched':
      helper.pending.get(message.id)?.onMatch?.(message.source);
      break;
    case 'ended':
      helper.pending.get(message.id)?.settle(message.end);
      helper.pending.delete(message.id);
      break;
    default:
      assertNever(message, 'message from the spawner');
  }
}

/** Closes a socket that is no longer wanted: its process may have ended meanwhile. */
function take(socket: unknown, onListening: ((socket: Server) => void) | undefined): void {
  if (!(socket instanceof Server)) return;
  if (onListening === undefined) socket.close();
  else onListening(socket);
}

function send(helper: Helper, message: ToSpawner): void {
  // A helper that just died is noticed by its `exit` event, which settles everything pending.
  if (helper.child.connected) helper.child.send(message, () => undefined);
}

/** Kills what an unsandboxed job of a dead helper left running. A sandboxed one has died with it. */
function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && (error.code === 'ESRCH' || error.code === 'EPERM')))
      throw error;
  }
}

/**
 * The helper process as the service holds it: forked once, given back at rest, lost with its jobs when it dies.
 *
 * To fork it from a grown service and to start a Node takes 100 ms and more of processor time. So one without jobs is kept for a moment
 * when its executor closes, for the next executor of this process, as threads are (`src/lib/call-threads.ts`).
 */
import { type ChildProcess, fork } from 'node:child_process';
import { Server } from 'node:net';
import { assertNever } from '../../lib/assert-never.ts';
import { compileCacheVariable } from '../../lib/compile-cache.ts';
import { ownModule } from '../../lib/own-file.ts';
import type { FromSpawner, ProcessEnd, ProcessSpec, SpawnerFacts, ToSpawner } from './protocol.ts';
import { killStrays } from './stray-processes.ts';
import { SIGNS_PER_LIMIT } from './watchdog.ts';

interface Pending {
  readonly spec: ProcessSpec;
  pid: number | undefined;
  readonly onListening: ((socket: Server) => void) | undefined;
  readonly onMatch: ((source: string) => void) | undefined;
  readonly settle: (end: ProcessEnd) => void;
}

/** Called when the helper is gone, with all its jobs. */
type OnGone = (helper: Helper, reason: string) => void;

/** Serves one executor at a time. */
export interface Helper {
  readonly child: ChildProcess;
  /** Jobs that have not ended, by their numbers. */
  readonly pending: Map<number, Pending>;
  /** The number of the next job or stage: none is used twice, by any executor. */
  nextId: number;
  readonly ready: PromiseWithResolvers<SpawnerFacts>;
  readonly gone: PromiseWithResolvers<void>;
  /** What it was started with: only an executor that wants the same may have it. */
  readonly key: string;
  onGone: OnGone | undefined;
  /** Called when nothing of the last executor is left. */
  onLeft: (() => void) | undefined;
}

/** Milliseconds for which one without an executor is kept. */
const KEEP_MS = 10_000;

const unused = new Set<Helper>();

/** @param silenceLimitMs milliseconds without a sign of life from this process after which it stops its jobs; 0: no limit. */
export function takeHelper(silenceLimitMs: number, onGone: OnGone): Helper {
  const env = environment();
  const key = JSON.stringify([silenceLimitMs, env]);
  const kept = [...unused].find(each => each.key === key) ?? forkHelper(silenceLimitMs, env, key);
  unused.delete(kept);
  kept.child.ref();
  kept.child.channel?.ref();
  kept.onGone = onGone;
  return kept;
}

/** For an executor that closes: its jobs are killed, and the helper with them. Resolves when nothing of it is left, or the helper has ended. */
export async function giveBack(helper: Helper): Promise<void> {
  const { child, pending, gone } = helper;
  if (pending.size === 0 && child.connected) {
    const left = new Promise<true>(resolve => {
      helper.onLeft = () => resolve(true);
    });
    sendTo(helper, { type: 'leave' });
    if ((await Promise.race([left, gone.promise])) === true) keep(helper);
    return;
  }
  if (child.connected) child.disconnect();
  await gone.promise;
}

function keep(helper: Helper): void {
  const { child } = helper;
  helper.onGone = undefined;
  helper.onLeft = undefined;
  // It ends when this process does.
  child.unref();
  child.channel?.unref();
  unused.add(helper);
  setTimeout(() => {
    if (unused.delete(helper) && child.connected) child.disconnect();
  }, KEEP_MS).unref();
}

function environment(): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
    TMPDIR: process.env.TMPDIR ?? '/tmp',
    ...compileCacheVariable(),
  };
}

function forkHelper(silenceLimitMs: number, env: NodeJS.ProcessEnv, key: string): Helper {
  const child = fork(ownModule('src/executor/spawner/main'), [String(silenceLimitMs)], {
    // Small, quiet, and without the options the service was started with (an inspector, a preload).
    execArgv: ['--max-old-space-size=128', '--disable-warning=ExperimentalWarning'],
    env,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'json',
  });
  const helper: Helper = {
    child,
    pending: new Map(),
    nextId: 0,
    ready: Promise.withResolvers<SpawnerFacts>(),
    gone: Promise.withResolvers<void>(),
    key,
    onGone: undefined,
    onLeft: undefined,
  };
  // No caller may be waiting for it.
  helper.ready.promise.catch(() => undefined);

  const alive =
    silenceLimitMs === 0
      ? undefined
      : setInterval(() => sendTo(helper, { type: 'alive' }), silenceLimitMs / SIGNS_PER_LIMIT);
  alive?.unref();

  let over = false;
  function lost(reason: string): void {
    if (over) return;
    over = true;
    clearInterval(alive);
    unused.delete(helper);
    for (const { spec, pid, settle } of helper.pending.values()) {
      killGroup(pid);
      killStrays(spec);
      settle({ kind: 'lost', reason });
    }
    helper.pending.clear();
    helper.ready.reject(new Error(reason));
    helper.gone.resolve();
    helper.onGone?.(helper, reason);
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
      sendTo(helper, { type: 'taken', id: message.id });
      break;
    case 'matched':
      helper.pending.get(message.id)?.onMatch?.(message.source);
      break;
    case 'ended':
      helper.pending.get(message.id)?.settle(message.end);
      helper.pending.delete(message.id);
      break;
    case 'left':
      helper.onLeft?.();
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

/** Lost where the helper is. */
export function sendTo(helper: Helper, message: ToSpawner): void {
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

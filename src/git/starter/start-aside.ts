/**
 * Starts git from a small helper process, one per process of the service: the service holds hundreds of megabytes, and each fork
 * would stop it while their page tables are copied.
 *
 *     const git = createGit({ identity, start: startAside });
 *
 * The helper starts with the first git and ends with this process. If it dies, running git processes are lost, and the next git
 * starts another helper.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { assertNever } from '../../lib/assert-never.ts';
import { compileCacheVariable } from '../../lib/compile-cache.ts';
import { ownModule } from '../../lib/own-file.ts';
import type { GitEnd, GitProcess, ProcessRequest, StartProcess } from '../process/git-process.ts';
import type { FromHelper, ToHelper } from './protocol.ts';

interface Pending {
  pid: number | undefined;
  /** It runs: from now on its stdin may be written. */
  onStarted(): void;
  /** The helper has seen its end, or is gone. */
  onEnd(end: GitEnd, stderr: string): void;
}

interface Helper {
  readonly child: ChildProcess;
  readonly socketPath: string;
  readonly pending: Map<number, Pending>;
  readonly ready: Promise<void>;
  /** Milliseconds in which it must confirm a kill. */
  readonly stuckAfter: number;
  /** Runs out unless the helper says something. */
  watchdog: NodeJS.Timeout | undefined;
}

/** Milliseconds in which a helper must confirm a kill; otherwise it is killed itself, so that deadlines of git hold. */
const STUCK_AFTER = 10_000;

/** A helper and the git processes that it runs. */
export interface Starter {
  readonly start: StartProcess;
  /** Of the helper, while there is one. */
  pid(): number | undefined;
}

/** By the one helper of this process. */
export const startAside: StartProcess = request => shared.start(request);
const shared = createStarter();

/** For tests, which need a helper of their own; services use {@link startAside}. @param stuckAfter milliseconds, as {@link STUCK_AFTER}. */
export function createStarter(stuckAfter = STUCK_AFTER): Starter {
  let helper: Helper | undefined;
  let nextId = 0;
  return {
    start(request) {
      helper ??= forkHelper(stuckAfter, lost => {
        if (helper === lost) helper = undefined;
      });
      return startIn(helper, nextId++, request);
    },
    pid: () => helper?.child.pid,
  };
}

function startIn(helper: Helper, id: number, request: ProcessRequest): GitProcess {
  const stdin = new PassThrough();
  const stdout = new Socket();
  const stderr = new Readable({ read() {} });
  const input = new Socket();
  const result = Promise.withResolvers<GitEnd>();
  const mine: Pending = {
    pid: undefined,
    onStarted: () => void stdin.pipe(input),
    onEnd(end, text) {
      helper.pending.delete(id);
      restIfIdle(helper);
      if (text !== '') stderr.push(text);
      stderr.push(null);
      if (end.kind === 'lost' || end.kind === 'not-started') stdout.destroy();
      // Output without a reader counts as read.
      for (const stream of [stdout, stderr]) if (stream.readableFlowing === null) stream.resume();
      result.resolve(end);
    },
  };
  helper.pending.set(id, mine);
  helper.child.channel?.ref();
  // Git may end before it has read its input; its exit code says why.
  const broken = (error: Error) => {
    if (mine.pid === undefined && helper.pending.has(id))
      mine.onEnd({ kind: 'not-started', reason: error.message }, '');
  };
  input.on('error', broken);
  stdout.on('error', broken);
  void helper.ready.then(() => {
    if (!helper.pending.has(id)) return;
    send(helper, { type: 'start', id, request });
    stdout.connect(helper.socketPath).write(`o${id}\n`);
    input.connect(helper.socketPath).write(`i${id}\n`);
  });
  const read = [once(stdout, 'close'), once(stderr, 'end')];
  return {
    stdin,
    stdout,
    stderr,
    get pid() {
      return mine.pid;
    },
    ended: result.promise.then(async end => {
      await Promise.all(read);
      input.destroy();
      return end;
    }),
    kill(signal) {
      if (!helper.pending.has(id)) return;
      helper.watchdog ??= setTimeout(() => helper.child.kill('SIGKILL'), helper.stuckAfter);
      // Not before it was asked to start.
      void helper.ready.then(() => {
        if (helper.pending.has(id)) send(helper, { type: 'kill', id, signal });
      });
    },
  };
}

function once(stream: Readable, event: 'close' | 'end'): Promise<void> {
  return new Promise(resolve => void stream.once(event, resolve));
}

function forkHelper(stuckAfter: number, onGone: (helper: Helper) => void): Helper {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-git-'));
  const socketPath = path.join(folder, 's');
  const child = fork(ownModule('src/git/starter/main'), [socketPath], {
    // A small heap, and none of the service's own options (an inspector, a preload).
    execArgv: ['--max-old-space-size=128', '--disable-warning=ExperimentalWarning'],
    env: { PATH: process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin', ...compileCacheVariable() },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'json',
  });
  const ready = Promise.withResolvers<void>();
  const helper: Helper = {
    ...{ child, socketPath, stuckAfter, pending: new Map(), ready: ready.promise, watchdog: undefined },
  };
  // While no git runs it does not keep the service's process alive.
  child.unref();
  restIfIdle(helper);

  let over = false;
  function lost(reason: string): void {
    if (over) return;
    over = true;
    clearTimeout(helper.watchdog);
    onGone(helper);
    for (const [, pending] of helper.pending) pending.onEnd(endWithout(pending, reason), '');
    rmSync(folder, { recursive: true, force: true });
  }
  child.on('message', (message: FromHelper) => {
    clearTimeout(helper.watchdog);
    helper.watchdog = undefined;
    if (message.type === 'ready') ready.resolve();
    else if (message.type !== 'heard') hear(helper, message);
  });
  child.once('error', error => lost(`the process that starts git failed: ${error.message}`));
  child.once('exit', (code, signal) =>
    lost(`the process that starts git ended (${signal ?? `status ${code}`})`),
  );
  return helper;
}

/** Running git processes are lost: their ends cannot be learned any more. */
function endWithout({ pid }: Pending, reason: string): GitEnd {
  if (pid === undefined) return { kind: 'not-started', reason };
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
  return { kind: 'lost', reason };
}

function hear(helper: Helper, message: Exclude<FromHelper, { type: 'ready' | 'heard' }>): void {
  const pending = helper.pending.get(message.id);
  if (pending === undefined) return;
  switch (message.type) {
    case 'started':
      pending.pid = message.pid;
      pending.onStarted();
      break;
    case 'ended':
      pending.onEnd(message.end, message.stderr);
      break;
    default:
      assertNever(message, 'message from the process that starts git');
  }
}

function restIfIdle({ child, pending }: Helper): void {
  if (pending.size === 0) child.channel?.unref();
}

function send({ child }: Helper, message: ToHelper): void {
  // A helper that just died is noticed by its `exit` event, which settles everything pending.
  if (child.connected) child.send(message, () => undefined);
}

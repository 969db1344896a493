/** The process that starts git for a service: see `protocol.ts`. It holds nothing else, and ends with its channel. */
import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import path from 'node:path';
import { assertNever } from '../../lib/assert-never.ts';
import { awaitGitEnd, groupKiller, type ProcessRequest } from '../process/git-process.ts';
import { type FromHelper, HEADER, MAX_STDERR, type ToHelper } from './protocol.ts';

/** A process that waits for its streams, or runs. */
interface Underway {
  request?: ProcessRequest;
  stdin?: Socket;
  stdout?: Socket;
  kill?: (signal: NodeJS.Signals) => void;
  /** Asked for before it ran. */
  killEarly?: NodeJS.Signals;
}

const socketPath = process.argv[2] ?? '';
const underway = new Map<number, Underway>();

function entry(id: number): Underway {
  const found = underway.get(id) ?? {};
  underway.set(id, found);
  return found;
}

function say(message: FromHelper): void {
  // When the channel is closed, or its other end is gone already, `disconnect` ends this process.
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}

function startWhenComplete(id: number): void {
  const mine = entry(id);
  const { request, stdin, stdout } = mine;
  if (request === undefined || stdin === undefined || stdout === undefined || mine.kill !== undefined) return;
  let child: ChildProcess;
  try {
    const { file, args, cwd, env } = request;
    child = spawn(file, args, { cwd, env, stdio: [stdin, stdout, 'pipe'], detached: true });
  } catch (error) {
    underway.delete(id);
    const reason = error instanceof Error ? error.message : String(error);
    say({ type: 'ended', id, end: { kind: 'not-started', reason }, stderr: '' });
    return;
  } finally {
    // Git has its own.
    stdin.destroy();
    stdout.destroy();
  }
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (stderr.length < MAX_STDERR) stderr = (stderr + text).slice(0, MAX_STDERR);
  });
  const ended = awaitGitEnd(child);
  mine.kill = groupKiller(child, ended);
  if (child.pid !== undefined) say({ type: 'started', id, pid: child.pid });
  if (mine.killEarly !== undefined) mine.kill(mine.killEarly);
  void ended.then(end => {
    underway.delete(id);
    say({ type: 'ended', id, end, stderr });
  });
}

/** Reads the header only: nothing else is sent before the process runs. */
function accept(socket: Socket): void {
  let head = '';
  socket.on('error', () => socket.destroy());
  socket.setEncoding('latin1').on('data', (text: string) => {
    head += text;
    const [, stream, id] = HEADER.exec(head) ?? [];
    if (stream === undefined) return;
    socket.pause();
    socket.removeAllListeners('data');
    entry(Number(id))[stream === 'i' ? 'stdin' : 'stdout'] = socket;
    startWhenComplete(Number(id));
  });
}

process.on('message', (message: ToHelper) => {
  switch (message.type) {
    case 'start':
      entry(message.id).request = message.request;
      startWhenComplete(message.id);
      break;
    case 'kill': {
      say({ type: 'heard' });
      const mine = underway.get(message.id);
      if (mine?.kill !== undefined) mine.kill(message.signal);
      else if (mine !== undefined) mine.killEarly = message.signal;
      break;
    }
    default:
      assertNever(message, 'message to the process that starts git');
  }
});

// Running git processes continue without this one: their streams belong to the service.
process.on('disconnect', () => {
  rmSync(path.dirname(socketPath), { recursive: true, force: true });
  process.exit(0);
});
// Ctrl-C in a terminal reaches the whole process group: the service decides what happens to git, not the terminal.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);

createServer({ allowHalfOpen: true }, accept).listen(socketPath, () => say({ type: 'ready' }));

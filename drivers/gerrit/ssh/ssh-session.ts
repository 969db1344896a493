/**
 * Commands to Gerrit over one kept SSH connection, each in a channel of its own.
 *
 *     first command        connects; what waits meanwhile shares the connection
 *     connection ended     the next command connects again; those under way end as `silent`
 *     command too slow     ends as `silent`; later ones get a new connection, in case this one is dead
 *     nothing for 60 s     the connection is closed
 *
 * Nothing here repeats a command.
 */
import type { HostTroubleReason } from '../../../src/model/host-trouble.ts';
import {
  connectSsh,
  execOverSsh,
  type RunningCommand,
  type SshConnection,
  type SshFailure,
} from './connect-ssh.ts';
import type { ReadFile, SshPlace } from './ssh-place.ts';

/** One command. */
interface SshCommand {
  /** E.g. `gerrit query change:12`. Gerrit logs it: nothing secret, and nothing long. */
  readonly line: string;
  /** For its standard input, which ends behind it; absent: empty. */
  readonly input?: string;
  /** In place of `input`, for a command that ends by what is said in it: its input stays open. */
  readonly conversation?: string;
  /** Variables of its environment, as far as the server takes them. */
  readonly environment?: Readonly<Record<string, string>>;
  /** From its start to its exit status, milliseconds; connecting has a bound of its own. */
  readonly deadlineMs: number;
}

/** What became of it. */
export type SshRan =
  | {
      readonly kind: 'ran';
      readonly code: number;
      readonly output: Buffer;
      /** What it wrote about errors; at most 4 000 bytes. */
      readonly complaint: string;
    }
  /** `isSent`: false when it was certainly not begun. */
  | {
      readonly kind: 'silent';
      readonly reason: HostTroubleReason;
      readonly text: string;
      readonly isSent: boolean;
    };

/** Of one connection of the settings. */
export interface SshSession {
  /** @throws only the reason of an aborted signal. */
  run(command: SshCommand, signal: AbortSignal): Promise<SshRan>;
  /** Commands under way end as `silent`. */
  close(): void;
}

export interface SshSessionDeps {
  readonly place: SshPlace;
  readonly readFile: ReadFile;
  /** Of one command's output; more ends it. */
  readonly mostBytes: number;
  /** Milliseconds without a command after which the connection is closed. Default: a minute. */
  readonly idleMs?: number;
}

const IDLE_MS = 60_000;
const MOST_COMPLAINT = 4_000;

/** A connection, and how many commands use it. */
interface Kept {
  readonly connection: Promise<SshConnection | SshFailure>;
  users: number;
}

export function createSshSession({
  place,
  readFile,
  mostBytes,
  idleMs = IDLE_MS,
}: SshSessionDeps): SshSession {
  const lifetime = new AbortController();
  const open = new Set<Kept>();
  let current: Kept | undefined;
  let idle: NodeJS.Timeout | undefined;

  function connect(): Kept {
    const connection = connectSsh(place, readFile, lifetime.signal);
    const kept: Kept = { connection, users: 0 };
    open.add(kept);
    current = kept;
    void connection.then(result => {
      if (result.kind === 'connected') result.client.once('close', () => forget(kept));
      else forget(kept);
    });
    return kept;
  }

  function forget(kept: Kept): void {
    open.delete(kept);
    if (current === kept) current = undefined;
  }

  /** Commands that use it go on; it ends behind the last one. */
  function retire(kept: Kept): void {
    if (current === kept) current = undefined;
    if (kept.users > 0) return;
    open.delete(kept);
    void kept.connection.then(result => result.kind === 'connected' && result.client.end());
  }

  function leave(kept: Kept): void {
    kept.users -= 1;
    if (current !== kept) retire(kept);
    if (current !== kept || kept.users > 0) return;
    clearTimeout(idle);
    // A connection that rests holds no process open.
    idle = setTimeout(() => kept.users === 0 && retire(kept), idleMs).unref();
  }

  return {
    async run(command, signal) {
      signal.throwIfAborted();
      const kept = current ?? connect();
      kept.users += 1;
      try {
        const connection = await orAborted(kept.connection, signal);
        if (connection.kind !== 'connected') return notConnected(connection);
        const ran = await runOn(connection, command, mostBytes, signal);
        if (ran.kind === 'silent') retire(kept);
        return ran;
      } finally {
        leave(kept);
      }
    },
    close() {
      clearTimeout(idle);
      lifetime.abort(new Error('the connection is closed'));
      for (const kept of open)
        void kept.connection.then(result => result.kind === 'connected' && result.client.destroy());
      current = undefined;
    },
  };
}

function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    promise.finally(() => signal.removeEventListener('abort', abort)).then(resolve, reject);
  });
}

function notConnected({ kind, text }: SshFailure): SshRan {
  return { kind: 'silent', reason: kind === 'refused' ? 'denied' : 'unreachable', text, isSent: false };
}

async function runOn(
  connection: SshConnection,
  command: SshCommand,
  mostBytes: number,
  signal: AbortSignal,
): Promise<SshRan> {
  const { line, environment, deadlineMs } = command;
  const deadline = AbortSignal.timeout(deadlineMs);
  const late: SshRan = {
    kind: 'silent',
    reason: 'timeout',
    text: `no answer within ${deadlineMs / 1000} s`,
    isSent: true,
  };
  const either = AbortSignal.any([signal, deadline]);
  const begun = execOverSsh(connection, line, environment);
  try {
    const running = await orAborted(begun, either);
    if (typeof running === 'string')
      return { kind: 'silent', reason: 'unreachable', text: running, isSent: false };
    return await orAborted(resultOf(running, connection, command, mostBytes), either);
  } catch (error) {
    void begun.then(running => typeof running === 'string' || running.channel.close());
    signal.throwIfAborted();
    if (deadline.aborted) return late;
    throw error;
  }
}

function resultOf(
  { channel, code: codeOf, closed }: RunningCommand,
  { trouble }: SshConnection,
  { input, conversation }: SshCommand,
  mostBytes: number,
): Promise<SshRan> {
  return new Promise(resolve => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    let complaint = '';
    const silent = (reason: HostTroubleReason, text: string) =>
      resolve({ kind: 'silent', reason, text, isSent: true });
    channel.on('data', (piece: Buffer) => {
      bytes += piece.length;
      if (bytes <= mostBytes) return void pieces.push(piece);
      pieces.length = 0;
      channel.close();
      silent('too-large', `the answer has more than ${mostBytes} bytes`);
    });
    channel.stderr.on('data', (piece: Buffer) => {
      complaint = (complaint + piece.toString('utf8')).slice(0, MOST_COMPLAINT);
    });
    channel.on('error', (error: Error) => silent('unreachable', error.message));
    void closed.then(() => {
      const code = codeOf();
      if (code === null) silent('unreachable', trouble() ?? 'the connection ended before the answer');
      else resolve({ kind: 'ran', code, output: Buffer.concat(pieces), complaint });
    });
    // Gerrit ends a command whose input ends before it has, without an exit status: only one that has input gets the end of it.
    if (input !== undefined) channel.end(input);
    if (conversation !== undefined) channel.write(conversation);
  });
}

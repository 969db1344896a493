/**
 * One connection to `gerrit stream-events` over SSH, from opening to its end.
 *
 *     connect (ssh/connect-ssh.ts) → exec → opened() → line(text)… → how it ended
 *
 * Who calls it opens the next one: nothing here tries again. Gerrit's stream begins at the moment it is opened and has no cursor, so what
 * happened between two connections has to be looked up.
 */
import { pause } from '../../../src/lib/pause.ts';
import { connectSsh, execOverSsh, type RunningCommand, type SshConnection } from '../ssh/connect-ssh.ts';
import type { ReadFile, SshPlace } from '../ssh/ssh-place.ts';
import { createEventLines } from './lines.ts';

/** What happens on a connection, in this order. */
export interface StreamWatcher {
  /** Gerrit has taken the command. */
  opened(): void;
  /** The next line is read when this one has been taken. */
  line(text: string): Promise<void>;
  /** Lines over the limit that were left out. */
  tooLong(count: number): void;
}

/** How a connection ended. */
export interface StreamEnd {
  /**
   * `closed`: it was open. `unreachable`: it never was, and may be at the next try. `refused`: an operator has to act; `text` says how.
   * `aborted`: by the caller's signal.
   */
  readonly kind: 'closed' | 'unreachable' | 'refused' | 'aborted';
  /** One line for people, without secrets. */
  readonly text: string;
}

/** Bytes; Gerrit's longest events hold a commit message and a comment. */
const LONGEST_LINE = 1024 * 1024;
/** Milliseconds from the end of the output to the exit status. */
const CLOSE_TIMEOUT = 2_000;
/** Characters of stderr that are kept. */
const MOST_COMPLAINT = 1_000;

/** Never rejects but with what `watcher.line` throws. */
export async function readEventStream(
  place: SshPlace,
  watcher: StreamWatcher,
  readFile: ReadFile,
  signal: AbortSignal,
): Promise<StreamEnd> {
  const connection = await connectSsh(place, readFile, signal);
  if (connection.kind !== 'connected') return connection;
  const { client, trouble } = connection;
  const abort = () => void client.destroy();
  signal.addEventListener('abort', abort, { once: true });
  try {
    const running = await execOverSsh(connection, 'gerrit stream-events');
    if (signal.aborted) return { kind: 'aborted', text: 'aborted' };
    if (typeof running === 'string') return { kind: 'unreachable', text: running };
    return await readChannel(running, trouble, watcher, signal);
  } finally {
    signal.removeEventListener('abort', abort);
    client.destroy();
  }
}

async function readChannel(
  { channel, code: codeOf, closed }: RunningCommand,
  trouble: SshConnection['trouble'],
  watcher: StreamWatcher,
  signal: AbortSignal,
): Promise<StreamEnd> {
  const lines = createEventLines(LONGEST_LINE);
  let complaint = '';
  channel.stderr.on('data', (piece: Buffer) => {
    complaint = (complaint + piece.toString('utf8')).slice(0, MOST_COMPLAINT);
  });
  watcher.opened();
  const failed = await feed(channel, lines, watcher, signal);
  if (signal.aborted) return { kind: 'aborted', text: 'aborted' };
  // The exit status comes behind the end of the output. The end alone is enough: a server may never close the channel.
  if (failed === undefined) await Promise.race([closed, pause(CLOSE_TIMEOUT, signal)]);
  const code = codeOf();
  const said = complaint.trim().split('\n')[0] ?? '';
  if (/not permitted/i.test(said))
    return {
      kind: 'refused',
      text: `${said}: give the account the global capability Stream Events in All-Projects`,
    };
  if (code !== null && code !== 0)
    return { kind: 'refused', text: `gerrit stream-events ended with ${code}: ${said}` };
  return { kind: 'closed', text: trouble() ?? failed ?? 'Gerrit closed the stream' };
}

/** @returns why reading failed; undefined: the output ended. */
async function feed(
  channel: RunningCommand['channel'],
  lines: ReturnType<typeof createEventLines>,
  watcher: StreamWatcher,
  signal: AbortSignal,
): Promise<string | undefined> {
  const pieces: AsyncIterator<Buffer> = channel[Symbol.asyncIterator]();
  while (true) {
    const next = await pieces.next().catch(error => String(error));
    if (typeof next === 'string') return next;
    if (next.done === true) return undefined;
    const { lines: complete, tooLong } = lines.push(next.value);
    if (tooLong > 0) watcher.tooLong(tooLong);
    for (const line of complete) {
      if (signal.aborted) return undefined;
      await watcher.line(line);
    }
  }
}

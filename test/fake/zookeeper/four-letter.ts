/** ZooKeeper's four-letter words: one TCP connection, four bytes, an answer in text. */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * @returns the answer; undefined when there was none in time. A server that is just starting accepts connections that it
 * never answers nor closes.
 */
export async function fourLetter(
  port: number,
  word: string,
  timeoutMs = 300,
  host = '127.0.0.1',
): Promise<string | undefined> {
  const socket = connect({ host, port });
  socket.setTimeout(timeoutMs, () => socket.destroy(new Error('no answer in time')));
  try {
    socket.write(word);
    return await text(socket);
  } catch {
    // Refused, reset or silent: all mean that it cannot be asked now.
    return undefined;
  } finally {
    socket.destroy();
  }
}

/** Part the server plays: `standalone`, `leader`, `follower`; undefined when it does not serve. `ruok` would say imok too early. */
export async function mode(port: number): Promise<string | undefined> {
  return /^Mode: (\w+)$/m.exec((await fourLetter(port, 'srvr')) ?? '')?.[1];
}

/**
 * Waits until the server serves.
 *
 * @throws Error when `gone` says that its process ended, or after the deadline.
 */
export async function serving(port: number, gone: () => boolean, deadlineMs = 60_000): Promise<void> {
  const end = performance.now() + deadlineMs;
  while ((await mode(port)) === undefined) {
    if (gone()) throw new Error('the server ended');
    if (performance.now() > end)
      throw new Error(`the server on port ${port} did not serve within ${deadlineMs} ms`);
    await pause(15);
  }
}

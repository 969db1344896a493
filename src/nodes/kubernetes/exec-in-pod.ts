/**
 * A command in a pod, over the WebSocket protocol `v5.channel.k8s.io`: the first byte of each message is the stream it belongs to. Earlier
 * protocols cannot say that the input has ended, which Ansible and `ssh … < file` need.
 *
 *     const end = await execInPod(client, pod, ['/bin/sh', '-c', 'cat'], { input, output, errors });
 *     if (end.kind === 'ended') …end.status
 */
import { randomUUID } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { cutLine } from '../../lib/cut-text.ts';
import { type KubeClient, refusalText, statusIn } from './kube-client.ts';
import { CONTAINER } from './pod-spec.ts';

/** `broken`: it did not begin, or what became of it is not known; one line for people. */
export type ExecEnd =
  | { readonly kind: 'ended'; readonly status: number }
  | { readonly kind: 'broken'; readonly reason: string };

export interface ExecStreams {
  /** Absent: the command has no input. */
  readonly input?: Readable;
  readonly output: Writable;
  readonly errors: Writable;
  /** With a terminal both outputs are one. Absent: none. */
  readonly terminal?: true;
  /** Ends the connection. */
  readonly signal?: AbortSignal;
}

const PROTOCOL = 'v5.channel.k8s.io';
const STREAMS = { input: 0, output: 1, errors: 2, status: 3, close: 255 } as const;
const HANDSHAKE_MS = 15_000;
/** A connection on which nothing was heard for this long, pings included, is gone. */
const SILENCE_MS = 60_000;
const LONGEST_REASON = 400;
/**
 * Bytes of input of which the server must have read the last before more is sent. It closes the connection as soon as the command has ended: a
 * client that writes at that moment learns that its writing failed, and not how the command ended.
 */
const PIECE = 128 * 1024;

/** How the input of a command fares. */
interface Line {
  /** What was sent last is not read yet; as long as the command does not read, the server answers no ping. */
  isFull: boolean;
}

/** Path of the pods of the client's namespace. */
export function podsPath({ namespace }: Pick<KubeClient, 'namespace'>): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`;
}

/** Never rejects. What the command has written is written to the streams when it resolves; it does not end them. */
export async function execInPod(
  client: KubeClient,
  pod: string,
  command: readonly string[],
  streams: ExecStreams,
): Promise<ExecEnd> {
  const query = new URLSearchParams({ container: CONTAINER, stdout: 'true' });
  query.set('stderr', String(streams.terminal === undefined));
  query.set('stdin', String(streams.input !== undefined));
  query.set('tty', String(streams.terminal !== undefined));
  for (const word of command) query.append('command', word);
  try {
    const { url, options } = await client.socketTo(`${podsPath(client)}/${pod}/exec?${query}`);
    const socket = new WebSocket(url, [PROTOCOL], {
      ...options,
      handshakeTimeout: HANDSHAKE_MS,
      perMessageDeflate: false,
    } as ConstructorParameters<typeof WebSocket>[2]);
    return await talk(socket, streams);
  } catch (error) {
    return broken(error instanceof Error ? error.message : String(error));
  }
}

function talk(socket: WebSocket, streams: ExecStreams): Promise<ExecEnd> {
  const { promise, resolve } = Promise.withResolvers<ExecEnd>();
  const { signal } = streams;
  const stop = () => socket.terminate();
  if (signal?.aborted) stop();
  signal?.addEventListener('abort', stop, { once: true });
  let isHeard = true;
  const heard = () => {
    isHeard = true;
  };
  const line: Line = { isFull: false };
  const beat = setInterval(() => {
    // While the reader of the output is slow, nothing is read, pongs neither.
    if (!isHeard && !socket.isPaused && !line.isFull) socket.terminate();
    isHeard = false;
    if (socket.readyState === WebSocket.OPEN) socket.ping();
  }, SILENCE_MS / 2);
  let end: ExecEnd | undefined;
  socket
    // While a line is full only the system notices a peer that is gone.
    .on('upgrade', response => response.socket.setKeepAlive(true, SILENCE_MS))
    .on('open', () => {
      if (streams.input !== undefined) void feed(socket, streams.input, line);
    })
    .on('pong', heard)
    .on('message', (data: Buffer) => {
      heard();
      if (data[0] === STREAMS.status) end = endOf(data.subarray(1));
      else take(socket, data, streams);
    })
    .on('unexpected-response', (_, response) => {
      void refusalText(response).then(message => {
        end = broken(`the API server answered ${response.statusCode} to a command: ${message}`);
        socket.terminate();
      });
    })
    .on('error', error => {
      end ??= broken(error.message);
    })
    .on('close', () =>
      resolve(end ?? broken(signal?.aborted ? 'it was given up' : 'the connection to the pod broke')),
    );
  return promise.finally(() => {
    clearInterval(beat);
    signal?.removeEventListener('abort', stop);
  });
}

function take(socket: WebSocket, data: Buffer, { output, errors }: ExecStreams): void {
  const stream = data[0] === STREAMS.output ? output : data[0] === STREAMS.errors ? errors : undefined;
  // The server begins with an empty message on each stream.
  if (stream === undefined || data.length <= 1 || stream.write(data.subarray(1))) return;
  socket.pause();
  const goOn = () => {
    stream.off('drain', goOn).off('close', goOn);
    socket.resume();
  };
  stream.on('drain', goOn).on('close', goOn);
}

/** As fast as it is read, and the end of it as well. */
async function feed(socket: WebSocket, input: Readable, line: Line): Promise<void> {
  try {
    for await (const part of input)
      for (let from = 0; from < part.length; from += PIECE) {
        await send(socket, STREAMS.input, part.subarray(from, from + PIECE));
        line.isFull = true;
        await readByServer(socket);
        line.isFull = false;
        // The end may have come with the answer: all that has arrived is read first.
        await setImmediate();
      }
    await send(socket, STREAMS.close, Buffer.of(STREAMS.input));
  } catch {
    // The command has ended, or its connection: that is what its end says.
  }
}

/** Resolves when the server has read all that was sent: it answers a ping after what came before it. @throws Error when the connection ends. */
async function readByServer(socket: WebSocket): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const mark = randomUUID();
  const onPong = (data: Buffer) => {
    if (data.toString() === mark) resolve();
  };
  const onClose = () => reject(new Error('the connection has ended'));
  socket.on('pong', onPong).on('close', onClose);
  socket.ping(mark);
  await promise.finally(() => socket.off('pong', onPong).off('close', onClose));
}

function send(socket: WebSocket, stream: number, bytes: Buffer): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.send(Buffer.concat([Buffer.of(stream), bytes]), error => (error ? reject(error) : resolve()));
  return promise;
}

/** From the `Status` that the API sends last. */
function endOf(bytes: Buffer): ExecEnd {
  let status: unknown;
  try {
    status = JSON.parse(bytes.toString('utf8'));
  } catch {
    return broken('the API server sent an end that cannot be read');
  }
  const { details, status: word } = Object(status) as {
    readonly status?: unknown;
    readonly details?: { readonly causes?: unknown };
  };
  if (word === 'Success') return { kind: 'ended', status: 0 };
  const causes = Array.isArray(details?.causes) ? details.causes : [];
  const cause: unknown = causes.find(each => statusIn(each).reason === 'ExitCode');
  const code = Number(statusIn(cause).message);
  if (cause !== undefined && Number.isInteger(code)) return { kind: 'ended', status: code };
  return broken(statusIn(status).message ?? 'the command did not begin');
}

function broken(reason: string): ExecEnd {
  return { kind: 'broken', reason: cutLine(reason, LONGEST_REASON) };
}

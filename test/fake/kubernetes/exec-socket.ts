/** The server's end of a command in a pod: WebSocket messages of `v5.channel.k8s.io`, whose first byte is the stream. */
import type { ChildProcess } from 'node:child_process';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { statusOf } from './pod-processes.ts';

const PROTOCOL = 'v5.channel.k8s.io';
const server = new WebSocketServer({
  noServer: true,
  handleProtocols: offered => (offered.has(PROTOCOL) ? PROTOCOL : false),
});

/** @param child has pipes for its input and both outputs. */
export function takeExec(request: IncomingMessage, socket: Duplex, head: Buffer, child: ChildProcess): void {
  server.handleUpgrade(request, socket, head, connection => {
    const send = (stream: number, bytes: Buffer) =>
      connection.send(Buffer.concat([Buffer.of(stream), bytes]));
    for (const stream of [1, 2]) send(stream, Buffer.alloc(0));
    child.stdout?.on('data', bytes => send(1, bytes));
    child.stderr?.on('data', bytes => send(2, bytes));
    child.stdin?.on('error', () => undefined);
    connection.on('message', (data: Buffer) => {
      if (data[0] === 0 && child.stdin?.write(data.subarray(1)) === false) {
        // As the real one reads nothing more then, pings neither.
        connection.pause();
        child.stdin.once('drain', () => connection.resume());
      }
      if (data[0] === 255 && data[1] === 0) child.stdin?.end();
    });
    connection.on('close', () => child.stdin?.end());
    child.on('close', (code, signal) => {
      send(3, Buffer.from(JSON.stringify(endOf(statusOf(code, signal)))));
      connection.close(1000);
    });
  });
}

function endOf(code: number): object {
  if (code === 0) return { metadata: {}, status: 'Success' };
  return {
    ...{ metadata: {}, status: 'Failure', reason: 'NonZeroExitCode' },
    message: `command terminated with non-zero exit code: exit status ${code}`,
    details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
  };
}

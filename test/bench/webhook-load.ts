/**
 * The sender of test/bench/webhook.ts, in a thread of its own: prepared requests over open sockets, as cheap as it can be, so
 * that what is measured is the service.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

export interface LoadOrder {
  readonly port: number;
  readonly token: string;
  readonly connections: number;
  readonly events: number;
  /** Events per second, at even distances, independent of the answers; undefined: each connection sends when it was answered. */
  readonly rate?: number;
  /** Default: one of the git driver. */
  readonly body?: string;
  /** Those of the driver; `{id}` and `{signature}` stand for a new id and the HMAC-SHA256 of the body. */
  readonly headers?: { readonly [name: string]: string };
}

export interface LoadResult {
  /** Milliseconds from the moment an event was due to its answer. */
  readonly latencies: readonly number[];
  readonly statuses: { readonly [status: string]: number };
  /** Milliseconds in all. */
  readonly elapsed: number;
}

/** About the size of what GitHub sends for a push of one commit. */
const PADDING = 'x'.repeat(6_000);

const GIT_BODY = JSON.stringify({
  project: 'acme/app',
  refs: [{ ref: 'refs/heads/for/master/x', padding: PADDING }],
});
const GIT_HEADERS = {
  'Content-Type': 'application/json',
  'X-Gatehouse-Delivery': '{id}',
  'X-Gatehouse-Signature': 'sha256={signature}',
};

function requestOf(order: LoadOrder): Buffer {
  const { body = GIT_BODY, headers = GIT_HEADERS } = order;
  const signature = createHmac('sha256', order.token).update(body).digest('hex');
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const filled = lines.join('').replace('{id}', randomUUID()).replace('{signature}', signature);
  return Buffer.from(
    `POST /api/connection/local/payload HTTP/1.1\r\nHost: 127.0.0.1:${order.port}\r\n${filled}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

class Sender {
  readonly #socket: Socket;
  #received = '';
  #answered: ((status: string) => void) | undefined;
  constructor(port: number) {
    this.#socket = connect(port, '127.0.0.1').setNoDelay(true);
    this.#socket.on('data', chunk => this.#take(chunk.toString('latin1')));
  }
  send(request: Buffer): Promise<string> {
    this.#socket.write(request);
    return new Promise(resolve => {
      this.#answered = resolve;
    });
  }
  end(): void {
    this.#socket.destroy();
  }
  #take(text: string): void {
    this.#received += text;
    const head = this.#received.indexOf('\r\n\r\n');
    if (head === -1) return;
    const length = Number(/content-length: (\d+)/i.exec(this.#received)?.[1] ?? 0);
    if (this.#received.length < head + 4 + length) return;
    const status = this.#received.slice(9, 12);
    this.#received = '';
    this.#answered?.(status);
  }
}

async function run(order: LoadOrder): Promise<LoadResult> {
  const senders = Array.from({ length: order.connections }, () => new Sender(order.port));
  const requests = Array.from({ length: order.events }, () => requestOf(order));
  const latencies: number[] = [];
  const statuses: Record<string, number> = {};
  const begun = performance.now();
  let next = 0;

  async function work(sender: Sender): Promise<void> {
    for (let at = next++; at < order.events; at = next++) {
      const due = order.rate === undefined ? performance.now() : begun + (at * 1000) / order.rate;
      const early = due - performance.now();
      if (early > 0) await new Promise(resolve => setTimeout(resolve, early));
      const status = await sender.send(requests[at] ?? Buffer.alloc(0));
      latencies.push(performance.now() - due);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  }

  await Promise.all(senders.map(work));
  const elapsed = performance.now() - begun;
  for (const sender of senders) sender.end();
  return { latencies, statuses, elapsed };
}

parentPort?.postMessage(await run(workerData));

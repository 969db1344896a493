/**
 * Handles requests one after the other per connection, with all connections taking turns: a burst of one client (pipelined requests, many
 * connections) never holds the event loop for longer than {@link TURN_MS} plus one request.
 *
 * The next request of a connection is handled when the answer before it was handed to the operating system, so that a client that does
 * not read costs the memory of one answer. A few requests may wait behind it; a connection that sends more is cut (browsers and
 * proxies do not pipeline).
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../lib/clock.ts';

const TURN_MS = 10;
const MOST_WAITING = 16;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

interface Line {
  readonly socket: Socket;
  readonly waiting: Exchange[];
  /** One of its requests is being answered, or the line waits for its turn. */
  busy: boolean;
}

/** Wraps a server's handler. @param clock monotonic; measures the turn. */
export function takeTurns(handle: RequestListener, clock: Pick<Clock, 'monotonic'>): RequestListener {
  const lines = new WeakMap<Socket, Line>();
  let ready: Line[] = [];
  let scheduled = false;

  function enqueue(line: Line): void {
    line.busy = true;
    ready.push(line);
    if (scheduled) return;
    scheduled = true;
    setImmediate(turn);
  }

  function turn(): void {
    const began = clock.monotonic();
    const now = ready;
    ready = [];
    let served = 0;
    for (const line of now) {
      serve(line);
      served += 1;
      if (clock.monotonic() - began >= TURN_MS) break;
    }
    ready = [...now.slice(served), ...ready];
    scheduled = ready.length > 0;
    if (scheduled) setImmediate(turn);
  }

  function serve(line: Line): void {
    const next = line.waiting.shift();
    if (next === undefined || line.socket.destroyed) return;
    next.response.once('close', () => {
      if (line.waiting.length > 0) enqueue(line);
      else line.busy = false;
    });
    handle(next.request, next.response);
  }

  return (request, response) => {
    const { socket } = request;
    if (socket.destroyed) return;
    const line = lines.get(socket) ?? { socket, waiting: [], busy: false };
    lines.set(socket, line);
    if (line.waiting.length >= MOST_WAITING) return void socket.destroy();
    line.waiting.push({ request, response });
    if (!line.busy) enqueue(line);
  };
}

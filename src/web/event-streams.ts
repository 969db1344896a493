/**
 * Server-sent events: `/api/tenant/<t>/events`. A reader gets `event: snapshot`, then an `event: update` for each change;
 * a reader that reconnects with `Last-Event-ID` (or `?last-event-id=`) gets the updates it missed. Ids are
 * `<start of this process>-<number>`; an id of another process is answered with a snapshot.
 *
 * A stream ends when the token that opened it expires, and when who may read the tenant changes: the reader comes back and is judged anew.
 * Readers cannot affect each other: their number is limited, in total and per client, and a slow reader is cut.
 */
import type { Request, Response } from 'express';
import type { AddressRanges } from '../lib/address-ranges.ts';
import { toMilliseconds } from '../lib/clock.ts';
import { refusalBody } from './answer.ts';
import { clientOf } from './client-address.ts';
import type { WebDeps } from './deps.ts';
import type { ExpectedJobDurations } from './expected-durations.ts';
import type { Forecasts } from './forecasts.ts';
import { type LiveFeed, liveFeed, type Update } from './live-feed.ts';

/** The streams of both listeners together, with one feed for each tenant that a reader ever asked for. */
export interface EventStreams {
  /** Takes over the response. @param expiresAt seconds since the epoch; then the stream ends. Undefined: never. */
  serve(tenant: string, request: Request, response: Response, expiresAt: number | undefined): Promise<void>;
  /** Current number of readers. */
  readonly size: number;
  /** Ends every stream. */
  close(): void;
}

type StreamDeps = Pick<
  WebDeps,
  | 'snapshot'
  | 'traceUi'
  | 'contact'
  | 'components'
  | 'log'
  | 'clock'
  | 'onChange'
  | 'sse'
  | 'auth'
  | 'noticeBounds'
> & {
  readonly expected: ExpectedJobDurations;
  readonly forecasts: Forecasts;
  /** Trusted proxies, whose clients count one by one. */
  readonly proxies: AddressRanges;
  /** Unique per process. */
  readonly run: string;
};

/** Listens for changes and sends heartbeats until {@link EventStreams.close}. */
export function eventStreams(deps: StreamDeps): EventStreams {
  return new Streams(deps);
}

/** Milliseconds; a reader that stays longer comes back. */
const LONGEST_TIMEOUT = 24 * 60 * 60 * 1000;

class Streams implements EventStreams {
  readonly #deps: StreamDeps;
  readonly #feeds = new Map<string, LiveFeed>();
  readonly #readers = new Map<Response, Reader>();
  /** By tenant that a reader ever asked for, as JSON. */
  readonly #rules = new Map<string, string>();
  readonly #changes: Disposable;
  readonly #heartbeat: NodeJS.Timeout;

  constructor(deps: StreamDeps) {
    this.#deps = deps;
    this.#changes = deps.onChange(tenant => {
      this.#judgeAnew(tenant);
      this.#feeds.get(tenant)?.touch();
    });
    this.#heartbeat = setInterval(() => {
      for (const reader of this.#readers.keys()) this.#write(reader, ': still here\n\n');
    }, deps.sse.heartbeat * 1000);
    this.#heartbeat.unref();
  }

  get size(): number {
    return this.#readers.size;
  }

  async serve(
    tenant: string,
    request: Request,
    response: Response,
    expiresAt: number | undefined,
  ): Promise<void> {
    const address = clientOf(request, this.#deps.proxies);
    if (this.#isFull(address)) return refuse(response);
    if (request.method === 'HEAD') return void response.end();
    const reader: Reader = { tenant, address, snapshotBytes: 0 };
    this.#judgeAnew(tenant);
    // The heartbeat detects dead readers, so the silence timeout is off; unread data is bounded separately.
    request.socket.setTimeout(0);
    this.#readers.set(response, reader);
    const expiry = this.#endAt(response, expiresAt);
    response.on('close', () => {
      clearTimeout(expiry);
      this.#readers.delete(response);
    });
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Accel-Buffering': 'no',
      // Ends the connection with the stream, so that stopping does not wait for an idle one.
      Connection: 'close',
    });
    response.write('retry: 2000\n\n');
    const feed = this.#feedOf(tenant);
    await feed.refresh();
    if (response.destroyed || response.writableEnded) return;
    // No await from here on: nothing is missed between catching up and following.
    const start = feed.catchUp(lastNumber(request, this.#deps.run));
    if (start.kind === 'snapshot') {
      reader.snapshotBytes = Buffer.byteLength(start.update.members);
      this.#writeUpdate(response, 'snapshot', start.update);
    } else for (const update of start.updates) this.#writeUpdate(response, 'update', update);
    const following = feed.follow(update => this.#writeUpdate(response, 'update', update));
    response.on('close', () => following[Symbol.dispose]());
  }

  close(): void {
    this.#changes[Symbol.dispose]();
    clearInterval(this.#heartbeat);
    for (const feed of this.#feeds.values()) feed.close();
    for (const reader of this.#readers.keys()) reader.end();
    this.#readers.clear();
  }

  /** Ends the tenant's streams if its rules are not those under which they began. */
  #judgeAnew(tenant: string): void {
    const rules = JSON.stringify(this.#deps.auth.rules.ofTenant(tenant) ?? null);
    const before = this.#rules.get(tenant);
    this.#rules.set(tenant, rules);
    if (before === undefined || before === rules) return;
    for (const [response, reader] of this.#readers) if (reader.tenant === tenant) response.end();
  }

  #endAt(response: Response, expiresAt: number | undefined): NodeJS.Timeout | undefined {
    if (expiresAt === undefined) return undefined;
    const left = expiresAt * 1000 - toMilliseconds(this.#deps.clock.now());
    return setTimeout(() => response.end(), Math.min(Math.max(0, left), LONGEST_TIMEOUT)).unref();
  }

  #feedOf(tenant: string): LiveFeed {
    const known = this.#feeds.get(tenant);
    if (known !== undefined) return known;
    const feed = liveFeed(this.#deps, tenant);
    this.#feeds.set(tenant, feed);
    return feed;
  }

  #isFull(address: string): boolean {
    const { maxClients, maxClientsPerAddress } = this.#deps.sse;
    const own = [...this.#readers.values()].filter(other => other.address === address);
    return this.#readers.size >= maxClients || own.length >= maxClientsPerAddress;
  }

  #write(reader: Response, text: string): void {
    const allowed = this.#deps.sse.maxBacklogBytes + (this.#readers.get(reader)?.snapshotBytes ?? 0);
    if (reader.writableLength > allowed) reader.destroy();
    else if (!reader.writableEnded) reader.write(text);
  }

  #writeUpdate(reader: Response, event: 'snapshot' | 'update', update: Update): void {
    // The page sets its clocks by `now`.
    const now = Math.round(toMilliseconds(this.#deps.clock.now()));
    const data = `{${update.members},"now":${now}}`;
    this.#write(reader, `id: ${this.#deps.run}-${update.number}\nevent: ${event}\ndata: ${data}\n\n`);
  }
}

function refuse(response: Response): void {
  response.setHeader('Retry-After', '10');
  response
    .status(503)
    .json(refusalBody({ error: 'too many readers of live events; try again later', place: 'events' }));
}

interface Reader {
  readonly tenant: string;
  readonly address: string;
  /** Bytes of the snapshot sent, which may exceed the allowed backlog without the reader being slow. */
  snapshotBytes: number;
}

function lastNumber(request: Request, run: string): number | null {
  const { searchParams } = new URL(request.originalUrl, 'http://local');
  // A browser sends the header when it reconnects by itself; a page that opens a new stream can only use the address.
  const id = request.headers['last-event-id'] ?? searchParams.get('last-event-id');
  if (typeof id !== 'string' || !id.startsWith(`${run}-`)) return null;
  const text = id.slice(run.length + 1);
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

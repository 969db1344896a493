/**
 * Server-sent events: `/api/tenant/<t>/events`. A reader gets `event: snapshot`, then an `event: update` for each change;
 * a reader that reconnects with `Last-Event-ID` (or `?last-event-id=`) gets the updates it missed. Ids are
 * `<start of this process>-<number>`; an id of another process is answered with a snapshot.
 *
 * Readers cannot affect each other: their number is limited, in total and per client, and a slow reader is cut.
 */
import type { Request, Response } from 'express';
import type { AddressRanges } from '../lib/address-ranges.ts';
import { toMilliseconds } from '../lib/clock.ts';
import { refusalBody } from './answer.ts';
import { clientOf } from './client-address.ts';
import type { WebDeps } from './deps.ts';
import type { ExpectedJobDurations } from './expected-durations.ts';
import { type LiveFeed, liveFeed, type Update } from './live-feed.ts';

export interface EventStreams {
  /** Takes over the response. */
  serve(tenant: string, request: Request, response: Response): Promise<void>;
  /** Current number of readers. */
  readonly size: number;
  /** Ends every stream. */
  close(): void;
}

type StreamDeps = Pick<
  WebDeps,
  'snapshot' | 'traceUi' | 'contact' | 'components' | 'log' | 'clock' | 'onChange' | 'sse'
> & {
  readonly expected: ExpectedJobDurations;
  /** Trusted proxies, whose clients count one by one. */
  readonly proxies: AddressRanges;
  /** Unique per process. */
  readonly run: string;
};

export function eventStreams(deps: StreamDeps): EventStreams {
  const feeds = new Map<string, LiveFeed>();
  const readers = new Map<Response, Reader>();
  const stopListening = deps.onChange(tenant => feeds.get(tenant)?.touch());
  const heartbeat = setInterval(() => {
    for (const reader of readers.keys()) write(reader, ': still here\n\n');
  }, deps.sse.heartbeat * 1000);
  heartbeat.unref();

  function feedOf(tenant: string): LiveFeed {
    const known = feeds.get(tenant);
    if (known !== undefined) return known;
    const feed = liveFeed(deps, tenant);
    feeds.set(tenant, feed);
    return feed;
  }

  function isFull(address: string): boolean {
    const { maxClients, maxClientsPerAddress } = deps.sse;
    return (
      readers.size >= maxClients ||
      readers
        .values()
        .filter(other => other.address === address)
        .toArray().length >= maxClientsPerAddress
    );
  }

  function write(reader: Response, text: string): void {
    const allowed = deps.sse.maxBacklogBytes + (readers.get(reader)?.snapshotBytes ?? 0);
    if (reader.writableLength > allowed) reader.destroy();
    else if (!reader.writableEnded) reader.write(text);
  }

  function writeUpdate(reader: Response, event: 'snapshot' | 'update', update: Update): void {
    // The page sets its clocks by `now`.
    const now = Math.round(toMilliseconds(deps.clock.now()));
    write(
      reader,
      `id: ${deps.run}-${update.number}\nevent: ${event}\ndata: {${update.members},"now":${now}}\n\n`,
    );
  }

  return {
    async serve(tenant, request, response) {
      const address = clientOf(request, deps.proxies);
      if (isFull(address)) {
        response.setHeader('Retry-After', '10');
        response
          .status(503)
          .json(refusalBody({ error: 'too many readers of live events; try again later', place: 'events' }));
        return;
      }
      if (request.method === 'HEAD') return void response.end();
      const self: Reader = { address, snapshotBytes: 0 };
      // The heartbeat detects dead readers, so the silence timeout is off; unread data is bounded separately.
      request.socket.setTimeout(0);
      readers.set(response, self);
      response.on('close', () => void readers.delete(response));
      response.writeHead(200, {
        'Content-Type': 'text/event-stream; charset=utf-8',
        'Cache-Control': 'no-store',
        'X-Accel-Buffering': 'no',
        // Ends the connection with the stream, so that stopping does not wait for an idle one.
        Connection: 'close',
      });
      response.write('retry: 2000\n\n');

      const feed = feedOf(tenant);
      await feed.refresh();
      if (response.destroyed || response.writableEnded) return;
      // No await from here on: nothing is missed between catching up and following.
      const start = feed.catchUp(lastNumber(request, deps.run));
      if (start.kind === 'snapshot') {
        self.snapshotBytes = Buffer.byteLength(start.update.members);
        writeUpdate(response, 'snapshot', start.update);
      } else for (const update of start.updates) writeUpdate(response, 'update', update);
      response.on(
        'close',
        feed.follow(update => writeUpdate(response, 'update', update)),
      );
    },
    get size() {
      return readers.size;
    },
    close() {
      stopListening();
      clearInterval(heartbeat);
      for (const feed of feeds.values()) feed.close();
      for (const reader of readers.keys()) reader.end();
      readers.clear();
    },
  };
}

interface Reader {
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

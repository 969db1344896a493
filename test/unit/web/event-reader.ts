/** Reads server-sent events as a browser would. */
interface ServerEvent {
  readonly id: string;
  readonly event: string;
  readonly data: {
    readonly set: Record<string, Record<string, unknown>>;
    readonly gone: readonly string[];
    readonly now: number;
  };
}

export interface EventReader extends AsyncDisposable {
  readonly status: number;
  readonly headers: Headers;
  /** The next event; fails after `deadline` milliseconds. Comments are passed over. */
  next(deadline?: number): Promise<ServerEvent>;
  /** Resolves when the server ended the stream. */
  ended(): Promise<void>;
  comment(): Promise<string>;
}

export async function readEvents(
  url: string,
  lastEventId?: string,
  more: Readonly<Record<string, string>> = {},
): Promise<EventReader> {
  const abort = new AbortController();
  const response = await fetch(url, {
    signal: abort.signal,
    headers: { ...more, ...(lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId }) },
  });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  /** No event ends before here. */
  let searched = 0;

  async function block(): Promise<string | undefined> {
    for (;;) {
      const end = text.indexOf('\n\n', searched);
      searched = Math.max(0, text.length - 1);
      if (end >= 0) {
        searched = 0;
        const found = text.slice(0, end);
        text = text.slice(end + 2);
        return found;
      }
      const { done, value } = await reader.read();
      if (done) return undefined;
      text += value;
    }
  }

  async function event(): Promise<ServerEvent> {
    for (;;) {
      const found = await block();
      if (found === undefined) throw new Error('the stream ended');
      const fields = new Map(
        found.split('\n').map(line => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
      );
      const data = fields.get('data');
      if (data !== undefined)
        return { id: fields.get('id') ?? '', event: fields.get('event') ?? '', data: JSON.parse(data) };
    }
  }

  return {
    status: response.status,
    headers: response.headers,
    next: (deadline = 5000) => within(event(), deadline),
    async comment() {
      for (;;) {
        const found = await within(block(), 5000);
        if (found === undefined) throw new Error('the stream ended');
        if (found.startsWith(':')) return found;
      }
    },
    async ended() {
      for (;;) if ((await within(block(), 5000)) === undefined) return;
    },
    async [Symbol.asyncDispose]() {
      abort.abort();
      await reader.cancel().catch(() => {});
    },
  };
}

async function within<T>(promise: Promise<T>, deadline: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`nothing within ${deadline} ms`)), deadline);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

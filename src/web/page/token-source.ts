/**
 * Server-sent events of a request with a token: browsers' own `EventSource` sends no header. It has the part of that interface that
 * tenant-stream.ts uses, and ends where a browser would try again.
 */
import { parseEvents } from './event-lines.ts';

const CLOSED = 2;

/** Opens at once. `error` comes once, with `readyState` closed. */
export class TokenSource extends EventTarget {
  readyState = 0;
  readonly #stop = new AbortController();

  constructor(address: string, headers: { readonly Authorization?: string }) {
    super();
    void this.#read(address, headers);
  }

  close(): void {
    this.readyState = CLOSED;
    this.#stop.abort();
  }

  async #read(address: string, headers: { readonly Authorization?: string }): Promise<void> {
    try {
      const response = await fetch(address, {
        headers: { ...headers, Accept: 'text/event-stream' },
        signal: this.#stop.signal,
        cache: 'no-store',
      });
      const lines = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      if (!response.ok || lines === undefined) return this.#end();
      this.readyState = 1;
      this.dispatchEvent(new Event('open'));
      const take = parseEvents((name, data, lastEventId) =>
        this.dispatchEvent(new MessageEvent(name, { data, lastEventId })),
      );
      for (;;) {
        const { done, value } = await lines.read();
        if (done) break;
        take(value);
      }
    } catch {
      // The connection is gone, or the stream was closed: both are its end.
    }
    this.#end();
  }

  #end(): void {
    if (this.readyState === CLOSED) return;
    this.readyState = CLOSED;
    this.dispatchEvent(new Event('error'));
  }
}

/**
 * The server's events of one tenant, and its current documents. It can be closed and opened again: the server keeps missed updates
 * for a while, and sends a snapshot after that.
 *
 * `listener` gets messages: `{kind: 'snapshot', set, gone, now}`, `{kind: 'update', …}` or `{kind: 'connection', connected}`.
 */

import { api } from './address.ts';
import type { LiveDocument, LiveUpdate, Take } from './messages.ts';
import { authorization } from './session.ts';
import { TokenSource } from './token-source.ts';

/** What both kinds of source have. */
interface Source extends EventTarget {
  readonly readyState: number;
  close(): void;
}

const CLOSED = 2;
/** After a refusal. */
const REFUSED_MS = 3000;

/** Made closed. It keeps its documents while it is closed, and continues after the last update it received. */
export class TenantStream {
  readonly documents = new Map<string, LiveDocument>();
  connected = false;
  readonly #tenant: string;
  readonly #listener: Take;
  #source: Source | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastId = '';
  /** Milliseconds by which the server's clock is ahead of this machine's; undefined: nothing received yet. */
  #offset: number | undefined;

  constructor(tenant: string, listener: Take) {
    this.#tenant = tenant;
    this.#listener = listener;
  }

  get isOpen(): boolean {
    return this.#source !== undefined;
  }

  open(): void {
    if (this.isOpen) return;
    clearTimeout(this.#timer);
    const since = this.#lastId === '' ? '' : `?last-event-id=${encodeURIComponent(this.#lastId)}`;
    const address = api(this.#tenant, 'events') + since;
    const headers = authorization();
    const source: Source =
      headers.Authorization === undefined ? new EventSource(address) : new TokenSource(address, headers);
    this.#source = source;
    source.addEventListener('snapshot', event => {
      this.documents.clear();
      this.#take('snapshot', event);
    });
    source.addEventListener('update', event => this.#take('update', event));
    source.addEventListener('open', () => this.#setConnected(true));
    source.addEventListener('error', () => {
      this.#setConnected(false);
      // Browsers restore a lost connection themselves, but treat a refusal (too many readers, still starting) as final.
      if (source.readyState !== CLOSED) return;
      this.#source = undefined;
      this.#timer = setTimeout(() => this.open(), REFUSED_MS);
    });
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = undefined;
  }

  /** All documents, for a new tab; undefined: nothing received yet. */
  snapshot(): LiveUpdate | undefined {
    if (this.#offset === undefined) return undefined;
    return {
      kind: 'snapshot',
      set: Object.fromEntries(this.documents),
      gone: [],
      now: Date.now() + this.#offset,
    };
  }

  #take(kind: LiveUpdate['kind'], event: Event): void {
    if (!(event instanceof MessageEvent)) return;
    const { set, gone, now }: Omit<LiveUpdate, 'kind'> = JSON.parse(event.data);
    this.#lastId = event.lastEventId;
    this.#offset = now - Date.now();
    for (const [name, value] of Object.entries(set)) this.documents.set(name, value);
    for (const name of gone) this.documents.delete(name);
    this.#listener({ kind, set, gone, now });
  }

  #setConnected(connected: boolean): void {
    this.connected = connected;
    this.#listener({ kind: 'connection', connected });
  }
}

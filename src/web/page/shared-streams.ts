/**
 * The streams of all tabs of a browser: one for each tenant that a tab shows, so that however many tabs there are, connections are left
 * for everything else (browsers open six to a host).
 *
 * A tab says which tenant it follows, and again and again that it can be seen. A stream is open while a tab of its tenant can be seen, and
 * a moment longer; what is missed while it is closed comes when it is opened again. A tab that crashed says nothing and counts as
 * hidden.
 */
import type { TabMessage, Take } from './messages.ts';
import type { TenantStream } from './tenant-stream.ts';

/** How long a tab that was just hidden counts as seen: people go back and forth. */
const HIDDEN_MS = 2000;
/** A tab that can be seen says so more often than this. */
export const SILENT_MS = 45_000;
/** Tenants seen side by side that are followed live; of more, those seen last. */
const MOST_STREAMS = 4;

interface Tab {
  readonly tell: Take;
  tenant: string | undefined;
  /** Until when it counts as seen. */
  seenUntil: number;
}

type Stream = Pick<TenantStream, 'open' | 'close' | 'snapshot' | 'connected'>;
type MakeStream = (tenant: string, listener: Take) => Stream;

export class SharedStreams {
  readonly #tabs = new Set<Tab>();
  readonly #streams = new Map<string, Stream>();
  readonly #makeStream: MakeStream;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(makeStream: MakeStream) {
    this.#makeStream = makeStream;
  }

  /** @returns what to call with each message of the tab. */
  join(tell: Take): (message: TabMessage) => void {
    const tab: Tab = { tell, tenant: undefined, seenUntil: 0 };
    return message => {
      if (message.kind === 'follow') this.#follow(tab, message.tenant);
      if (message.kind === 'seen') tab.seenUntil = Date.now() + SILENT_MS;
      if (message.kind === 'hidden') tab.seenUntil = Math.min(tab.seenUntil, Date.now() + HIDDEN_MS);
      if (message.kind === 'leave') this.#tabs.delete(tab);
      this.#settle();
    };
  }

  #follow(tab: Tab, tenant: string): void {
    tab.tenant = tenant;
    this.#tabs.add(tab);
    const stream = this.#streamOf(tenant);
    const snapshot = stream.snapshot();
    if (snapshot !== undefined) tab.tell(snapshot);
    if (stream.connected) tab.tell({ kind: 'connection', connected: true });
  }

  #streamOf(tenant: string): Stream {
    const known = this.#streams.get(tenant);
    if (known !== undefined) return known;
    const stream = this.#makeStream(tenant, message => {
      for (const tab of this.#tabs) if (tab.tenant === tenant) tab.tell(message);
    });
    this.#streams.set(tenant, stream);
    return stream;
  }

  /** Opens and closes streams as tabs are seen now, and once more when the next of them is not any more. */
  #settle(): void {
    clearTimeout(this.#timer);
    const now = Date.now();
    const seen = [...this.#tabs].filter(tab => tab.seenUntil > now).sort((a, b) => b.seenUntil - a.seenUntil);
    const wanted = new Set([...new Set(seen.flatMap(tab => tab.tenant ?? []))].slice(0, MOST_STREAMS));
    for (const [tenant, stream] of this.#streams) {
      if (wanted.has(tenant)) continue;
      stream.close();
      if (![...this.#tabs].some(tab => tab.tenant === tenant)) this.#streams.delete(tenant);
    }
    for (const tenant of wanted) this.#streams.get(tenant)?.open();
    const next = seen.at(-1);
    if (next !== undefined) this.#timer = setTimeout(() => this.#settle(), next.seenUntil - now + 1);
  }
}

/**
 * The streams of all tabs of a browser: one per tenant shown, so that many tabs do not use up the connections (browsers open six per
 * host).
 *
 * A tab reports the tenant it follows and, periodically, that it is visible. A stream is open while a tab of its tenant is visible, and
 * shortly after; updates missed while it is closed arrive when it is opened again. A crashed tab reports nothing and counts as hidden.
 */
import type { TabMessage, Take } from './messages.ts';
import type { TenantStream } from './tenant-stream.ts';

/** Milliseconds for which a hidden tab still counts as visible: people switch back and forth. */
const HIDDEN_MS = 2000;
/** Milliseconds without a report after which a tab counts as hidden. */
export const SILENT_MS = 45_000;
/** The same of one that is awake. */
const AWAKE_MS = 150_000;
/** Maximum number of tenants followed at the same time; the ones seen last win. */
const MOST_STREAMS = 4;

interface Tab {
  readonly send: Take;
  tenant: string | undefined;
  /** Until when it counts as visible, milliseconds since the epoch. */
  seenUntil: number;
}

type Stream = Pick<TenantStream, 'open' | 'close' | 'snapshot' | 'connected'>;
type MakeStream = (tenant: string, listener: Take) => Stream;

/** Runs in the shared worker; in a browser without one, each tab has its own. */
export class SharedStreams {
  readonly #tabs = new Set<Tab>();
  readonly #streams = new Map<string, Stream>();
  readonly #makeStream: MakeStream;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(makeStream: MakeStream) {
    this.#makeStream = makeStream;
  }

  /** @param send called with each message for the tab. @returns a function to call with each message of the tab. */
  join(send: Take): (message: TabMessage) => void {
    const tab: Tab = { send, tenant: undefined, seenUntil: 0 };
    return message => {
      if (message.kind === 'follow') this.#follow(tab, message.tenant);
      if (message.kind === 'seen') tab.seenUntil = Date.now() + SILENT_MS;
      if (message.kind === 'awake') tab.seenUntil = Date.now() + AWAKE_MS;
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
    if (snapshot !== undefined) tab.send(snapshot);
    if (stream.connected) tab.send({ kind: 'connection', connected: true });
  }

  #streamOf(tenant: string): Stream {
    const known = this.#streams.get(tenant);
    if (known !== undefined) return known;
    const stream = this.#makeStream(tenant, message => {
      for (const tab of this.#tabs) if (tab.tenant === tenant) tab.send(message);
    });
    this.#streams.set(tenant, stream);
    return stream;
  }

  /** Opens and closes streams for the tabs visible now, and again when the next of them becomes hidden. */
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

/**
 * The live documents of one tenant (`tenant`, `pipeline/<name>`, `item/<uuid>`), kept up to date by the server's events.
 *
 * `listener(changed)` is called with the names that changed, or null after a whole snapshot.
 */
import type { ForecastDocument, ItemForecast } from '../../api/forecast.ts';
import type { LiveItem } from '../../api/live-item.ts';
import type { LivePipeline, LiveTenant } from '../../api/live-view.ts';
import type { Changed, LiveDocument, LiveUpdate, StreamMessage, Take } from './messages.ts';

interface Listeners {
  readonly onChange: (changed: Changed) => void;
  readonly onConnection: (connected: boolean) => void;
}

/** Made per tenant shown and closed before the next. Documents are as the service sent them; do not change them. */
export class Live {
  readonly documents = new Map<string, LiveDocument>();
  connected = false;
  /** Time of the last update on this machine's clock; 0: none yet. */
  heardAt = 0;
  #offset = 0;
  /** A snapshot that is about to be shown: with many items, receiving it is a task of its own. */
  #whole: ReturnType<typeof setTimeout> | undefined;
  readonly #listeners: Listeners;
  readonly #stop: () => void;

  /** @param open begins the feed, and returns what ends it. */
  constructor(tenant: string, open: (tenant: string, take: Take) => () => void, listeners: Listeners) {
    this.#listeners = listeners;
    this.#stop = open(tenant, message => this.#hear(message));
  }

  #hear(message: StreamMessage): void {
    if (message.kind === 'connection') {
      this.#setConnected(message.connected);
      return;
    }
    if (message.kind === 'snapshot') this.documents.clear();
    const changed = this.#take(message);
    if (message.kind === 'snapshot') this.#whole ??= setTimeout(() => this.#showWhole());
    // What comes before a snapshot is shown is shown with it.
    else if (this.#whole === undefined) this.#listeners.onChange(changed);
  }

  #showWhole(): void {
    this.#whole = undefined;
    this.#listeners.onChange(null);
  }

  #setConnected(connected: boolean): void {
    if (this.connected === connected && this.heardAt !== 0) return;
    this.connected = connected;
    this.#listeners.onConnection(connected);
  }

  /** The server's time, in milliseconds. */
  now(): number {
    return Date.now() + this.#offset;
  }

  tenant(): LiveTenant | undefined {
    // The name determines the type of the document: the service made it so.
    return this.documents.get('tenant') as LiveTenant | undefined;
  }

  pipelines(): readonly LivePipeline[] {
    return [...this.documents]
      .filter(([name]) => name.startsWith('pipeline/'))
      .map(([, pipeline]) => pipeline as LivePipeline)
      .sort((a, b) => a.position - b.position);
  }

  /** Milliseconds from which on to notify; undefined: there is no such pipeline. */
  noticeBounds(pipeline: string): LivePipeline['notices'] | undefined {
    return (this.documents.get(`pipeline/${pipeline}`) as LivePipeline | undefined)?.notices;
  }

  /** All in the queues. */
  items(): readonly LiveItem[] {
    return [...this.documents]
      .filter(([name]) => name.startsWith('item/'))
      .map(([, item]) => item as LiveItem);
  }

  item(uuid: string): LiveItem | undefined {
    return this.documents.get(`item/${uuid}`) as LiveItem | undefined;
  }

  /** Undefined: there is none, or the item has left. */
  forecast({ pipeline, uuid }: Pick<LiveItem, 'pipeline' | 'uuid'>): ItemForecast | undefined {
    return this.forecasts(pipeline)?.items[uuid];
  }

  /** Those of a pipeline. */
  forecasts(pipeline: string): ForecastDocument | undefined {
    return this.documents.get(`forecast/${pipeline}`) as ForecastDocument | undefined;
  }

  close(): void {
    clearTimeout(this.#whole);
    this.#stop();
  }

  #take({ set, gone, now }: LiveUpdate): ReadonlySet<string> {
    this.heardAt = Date.now();
    this.#offset = now - Date.now();
    for (const [name, value] of Object.entries(set)) this.documents.set(name, value);
    for (const name of gone) this.documents.delete(name);
    return new Set([...Object.keys(set), ...gone]);
  }
}

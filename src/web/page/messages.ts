/** Messages of the service's stream to a tab, and of a tab to the worker that holds the stream. */
import type { ForecastDocument } from '../../api/forecast.ts';
import type { LiveItem } from '../../api/live-item.ts';
import type { LivePipeline, LiveTenant } from '../../api/live-view.ts';

/** By name: `tenant`, `pipeline/<name>`, `item/<uuid>`, `forecast/<pipeline>`. */
export type LiveDocument = LiveTenant | LivePipeline | LiveItem | ForecastDocument;

/** The data of a server-sent event, with the event's name as its kind. */
export interface LiveUpdate {
  /** A snapshot has all documents; an update only the changed ones. */
  readonly kind: 'snapshot' | 'update';
  readonly set: { readonly [name: string]: LiveDocument };
  readonly gone: readonly string[];
  /** The server's clock, milliseconds. */
  readonly now: number;
}

/** From the stream to a tab: documents, or whether the service can be reached. */
export type StreamMessage = LiveUpdate | { readonly kind: 'connection'; readonly connected: boolean };

/**
 * From a tab to the holder of the streams. `seen` is repeated while the tab is visible, so that a crashed tab is noticed, and `awake`
 * by a hidden one that shows notifications: browsers let those speak once a minute.
 */
export type TabMessage =
  | { readonly kind: 'follow'; readonly tenant: string }
  | { readonly kind: 'seen' | 'awake' | 'hidden' | 'leave' };

/** Called in the order of the stream. A snapshot may come at any time and replaces all documents. */
export type Take = (message: StreamMessage) => void;

/** Names of changed documents, or null after a snapshot. */
export type Changed = ReadonlySet<string> | null;

/** One of the page's views. */
export interface View {
  /** What the title of the document begins with; may change at any time. */
  readonly title: string;
  /** Called after each message with documents. A view decides itself whether it concerns it. */
  update(changed: Changed): void;
  /** Once a second. */
  tick(): void;
  /** Before another view takes its place; nothing it still loads may be drawn after that. */
  close(): void;
}

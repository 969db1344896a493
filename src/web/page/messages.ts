/** What the service's stream tells a tab, and what a tab tells the worker that holds the stream. */
import type { LiveItem } from '../../api/live-item.ts';
import type { LivePipeline, LiveTenant } from '../../api/live-view.ts';

/** By name: `tenant`, `pipeline/<name>`, `item/<uuid>`. */
export type LiveDocument = LiveTenant | LivePipeline | LiveItem;

export interface LiveUpdate {
  /** A snapshot is everything; an update is what differs. */
  readonly kind: 'snapshot' | 'update';
  readonly set: { readonly [name: string]: LiveDocument };
  readonly gone: readonly string[];
  /** The server's clock, milliseconds. */
  readonly now: number;
}

export type StreamMessage = LiveUpdate | { readonly kind: 'connection'; readonly connected: boolean };

export type TabMessage =
  | { readonly kind: 'follow'; readonly tenant: string }
  | { readonly kind: 'seen' | 'hidden' | 'leave' };

export type Take = (message: StreamMessage) => void;

/** The names that changed, or null after a whole snapshot. */
export type Changed = ReadonlySet<string> | null;

/** One of the page's views. */
export interface View {
  update(changed: Changed): void;
  /** Once a second. */
  tick(): void;
  close(): void;
}

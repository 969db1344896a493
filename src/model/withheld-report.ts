/** The last report about an item that its tenant's shadow mode withheld, for readers. */
import type { ReportAction } from './pipeline.ts';
import type { QueueItem } from './queue-item.ts';

/** Part of the item's document and of its explanation. */
export interface WithheldReport {
  readonly action: ReportAction;
  /** Its text, perhaps cut. */
  readonly message: string;
  /** What each reporter would have done. */
  readonly parts: readonly { readonly connection: string; readonly text: string }[];
}

/** Null: none was withheld. */
export function withheldReport({ reports }: Pick<QueueItem, 'reports'>): WithheldReport | null {
  const last = reports.findLast(({ done }) => done?.outcome === 'withheld');
  if (last === undefined || last.done === null) return null;
  const { message = '', parts } = last.done;
  return {
    action: last.action,
    message,
    parts: parts.flatMap(({ outcome, connection, text = '' }) =>
      outcome === 'withheld' ? [{ connection, text }] : [],
    ),
  };
}

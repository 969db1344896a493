/** Items between their pipelines and the history: their rows wait in the outbox for a moment. */
import { RecordError } from '../../model/codec/record.ts';
import { historyRowsCodec } from '../../model/codec/records.ts';
import type { HistoryRow } from '../../model/history.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import { listOutbox, readOutbox } from '../../store/outbox.ts';
import type { Store } from '../../store/port.ts';

/** @returns the wanted items, in the order in which they left. */
export async function leavingItems(
  store: Store,
  historyOutbox: string,
  wanted: (item: QueueItem) => boolean,
): Promise<readonly QueueItem[]> {
  const rows = await readOutbox(store, await listOutbox(store, historyOutbox));
  return rows
    .flatMap(row => readable(row.data))
    .flatMap(entry => (entry.kind === 'item' && wanted(entry.item) ? [entry.item] : []));
}

/** Unreadable rows are skipped: the delivery handles them. */
function readable(row: Uint8Array): readonly HistoryRow[] {
  try {
    return historyRowsCodec.decode(row);
  } catch (error) {
    if (error instanceof RecordError) return [];
    throw error;
  }
}

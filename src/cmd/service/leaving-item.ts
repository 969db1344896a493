/** An item between its pipeline and the history: its row waits in the outbox for a moment. */
import { RecordError } from '../../model/codec/record.ts';
import { historyRowsCodec } from '../../model/codec/records.ts';
import type { HistoryRow } from '../../model/history.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import { listOutbox, readOutbox } from '../../store/outbox.ts';
import type { Store } from '../../store/port.ts';

export async function leavingItem(
  store: Store,
  historyOutbox: string,
  tenant: string,
  uuid: string,
): Promise<QueueItem | undefined> {
  const rows = await readOutbox(store, await listOutbox(store, historyOutbox));
  for (const row of rows) {
    for (const entry of readable(row.data)) {
      if (entry.kind === 'item' && entry.item.uuid === uuid && entry.item.tenant === tenant)
        return entry.item;
    }
  }
  return undefined;
}

/** A row this process cannot read is for whoever delivers it; the item may be in another. */
function readable(row: Uint8Array): readonly HistoryRow[] {
  try {
    return historyRowsCodec.decode(row);
  } catch (error) {
    if (error instanceof RecordError) return [];
    throw error;
  }
}

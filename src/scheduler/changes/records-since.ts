/**
 * What a host said of changes, in the light of what was written while it was asked.
 *
 * A landing is noted by the pipeline that lands it, also while the host is being read. It takes nothing away from the read: that
 * revision has landed and stays so, and the rest of the answer holds. Without this rule a stream of landings would keep a slow host
 * from ever being read, because each read would be thrown away for the landing that came in between.
 */
import { type ChangeRecord, sameRevision } from '../../model/change.ts';
import type { ChangeCache } from './change-cache.ts';

/** @returns the records to store; undefined: one was written since `begun` in another way, and the answer may be older. */
export function recordsSince(
  begun: number,
  read: readonly ChangeRecord[],
  changes: Pick<ChangeCache, 'record' | 'changedSince'>,
): readonly ChangeRecord[] | undefined {
  const records: ChangeRecord[] = [];
  for (const record of read) {
    const { key } = record.change;
    if (!changes.changedSince(begun, [key])) records.push(record);
    else if (record.status !== 'abandoned' && hasLanded(record, changes.record(key)))
      records.push({ ...record, status: 'merged' });
    else return undefined;
  }
  return records;
}

function hasLanded({ change }: ChangeRecord, written: ChangeRecord | undefined): boolean {
  return written?.status === 'merged' && sameRevision(written.change, change);
}

/** The spans in rows of the outbox, as they are sent: without open ones, with today's attribute names. */
import { isNewerRecord, RecordError } from '../../model/codec/record.ts';
import { spansCodec } from '../../model/codec/records.ts';
import type { SpanRecord } from '../../model/span.ts';
import { withCurrentNames } from '../former-names.ts';

/** What a batch of rows holds. Open spans are left out without a count, since only ended ones are exported. */
export interface RowSpans {
  readonly ended: readonly SpanRecord[];
  /** One error text per unreadable row; each counts as one span. */
  readonly unreadable: readonly string[];
  /** Error of the first row of a newer version. */
  readonly newer: RecordError | undefined;
}

/** @param rows encoded `spans` records. An unreadable row does not affect the others. */
export function spansInRows(rows: readonly Uint8Array[]): RowSpans {
  const ended: SpanRecord[] = [];
  const unreadable: string[] = [];
  let newer: RecordError | undefined;
  for (const row of rows) {
    try {
      for (const span of spansCodec.decode(row)) if (span.end !== null) ended.push(withCurrentNames(span));
    } catch (error) {
      if (!(error instanceof RecordError)) throw error;
      if (isNewerRecord(error)) newer ??= error;
      else unreadable.push(error.message);
    }
  }
  return { ended, unreadable, newer };
}

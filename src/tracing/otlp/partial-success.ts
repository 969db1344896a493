/**
 * Partial success of an accepted request: `ExportTraceServiceResponse { partial_success { rejected_spans = 1;
 * error_message = 2 } }`.
 */
import { collectorText } from './collector-text.ts';
import type { PartialSuccess } from './export-outcome.ts';
import { utf8, wireFields } from './wire.ts';

/** @returns undefined for a full success. An unreadable answer gives a warning of ours. */
export function refusalIn(answer: Uint8Array): PartialSuccess | undefined {
  try {
    let [spans, text] = [0, ''];
    for (const { number, bytes } of wireFields(answer)) {
      if (number !== 1 || bytes === undefined) continue;
      for (const field of wireFields(bytes)) {
        if (field.number === 1) spans = Number(field.value);
        if (field.number === 2 && field.bytes !== undefined) text = collectorText(utf8(field.bytes));
      }
    }
    return spans === 0 && text === '' ? undefined : { spans, text };
  } catch (error) {
    // The status says that the spans were accepted; only the body is unreadable.
    if (!(error instanceof RangeError)) throw error;
    return { spans: 0, text: 'the answer cannot be read; is this a collector?' };
  }
}

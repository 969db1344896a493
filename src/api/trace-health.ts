/** How whole the traces are that are sent: `GET …/trace-health`. */
import type { SenderReport } from '../model/sender-report.ts';
import { type Document, document, list, milliseconds, nullable, number, text, whole } from './schema.ts';

const hourSchema = document({
  hour: milliseconds('Begin of the hour'),
  judged: whole('Traces that ended and were judged'),
  unjudged: whole('Traces that ended and had begun before the sender did, or were too large'),
  orphans: whole('Spans whose parent was not sent with their trace'),
  outside: whole('Spans that begin before their parent, or end after it'),
  untiled: whole('Items with more than a millisecond in no named state'),
  untiledMs: number('The time of that, in milliseconds'),
  dangling: whole('Links to spans that were not sent'),
});

/** Of the whole installation: one process sends the spans of all. */
export const traceHealthSchema = document({
  host: nullable(text(), 'Of the process that sends; null: none has reported yet'),
  hours: list(hourSchema, 'Of the last day, those in which traces ended, oldest first'),
});
/** Read by the page. */
export type TraceHealthDocument = Document<typeof traceHealthSchema>;

/** @param sender null: there is no report. */
export function traceHealthDocument(sender: SenderReport | null): TraceHealthDocument {
  const hours = (sender?.traces ?? []).map(({ untiledNs, ...hour }) => ({
    ...hour,
    untiledMs: Math.round(untiledNs / 1e6),
  }));
  return { host: sender?.host ?? null, hours };
}

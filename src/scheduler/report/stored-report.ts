/** A report inside its intent: stored once and complete, so that the intent can be performed without the item. */
import type { Report, ReportDetails } from '../../model/report.ts';
import type { ReportIntent } from '../../model/report-intent.ts';
import { type ReportFacts, reportText } from './report-text.ts';

type StoredReport = Pick<
  ReportIntent,
  'tenant' | 'pipeline' | 'item' | 'action' | 'result' | 'message' | 'url' | 'details'
>;

/** With the text as it is now: a later release sends what this one wrote. */
export function storedReport(report: ReportFacts): StoredReport {
  const { action, result, item, place, urls, ...rest } = report;
  const details: ReportDetails = { ...rest, queue: place.queue, traceUrl: urls.trace };
  const { tenant, pipeline } = place;
  return { tenant, pipeline, item, action, result, message: reportText(report), url: urls.item, details };
}

/** The reverse of {@link storedReport}, for the drivers. */
export function reportOf(intent: StoredReport): Report {
  const { tenant, pipeline, item, action, result, message: text, url, details } = intent;
  const { queue, traceUrl, ...rest } = details;
  const place = { tenant, pipeline, queue };
  return { action, result, item, place, urls: { item: url, trace: traceUrl }, ...rest, text };
}

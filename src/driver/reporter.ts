/** Reports results to the host: notes, comments, votes, checks. */
import type { Change } from '../model/change.ts';
import type { Json } from '../model/job.ts';
import type { Report } from '../model/report.ts';
import type { HostLater } from './host-later.ts';

/** One report to one change by one reporter of a pipeline. */
export interface ReportRequest {
  /** As `parseReporter` returned it. */
  readonly config: Json;
  /** The change to report on; one of `report.changes`, unless an earlier release requested the report. */
  readonly change: Change;
  /** The report as data; a host that only takes text gets `report.text`. */
  readonly report: Report;
}

/** `done`: the host has the report, or the reporter's configuration asks for none. */
export type ReporterOutcome =
  | { readonly kind: 'done' }
  | ({ readonly kind: 'later' } & HostLater)
  /** The host refuses it for good; `text` says why. */
  | { readonly kind: 'failed'; readonly text: string };

/** The capability to report. Runs in the scheduler that holds the pipeline; reports of one item come in order. */
export interface Reporter {
  /**
   * Repeatable: a call after a crash first asks the host whether it has the report; `report.item` and `report.action` identify it.
   *
   * @param mayAct to be called directly before each write: false when another process may hold the pipeline by now. Absent: always
   *   true.
   * @throws when the host cannot be reached, which counts as `later`, or when `mayAct` returned false: the caller tries again with
   *   growing pauses if it still may.
   */
  report(request: ReportRequest, signal: AbortSignal, mayAct?: () => boolean): Promise<ReporterOutcome>;
}

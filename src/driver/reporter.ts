/** Reports results to the host: notes, comments, votes, checks. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Change } from '../model/change.ts';
import type { EarlierReports } from '../model/earlier-reports.ts';
import type { Json } from '../model/job.ts';
import type { Report } from '../model/report.ts';
import type { HostLater } from './host-later.ts';
import type { HostSteps } from './host-steps.ts';

/** One report to one change by one reporter of a pipeline. */
export interface ReportRequest {
  /** As `parseReporter` returned it. */
  readonly config: Json;
  /** The change to report on; one of `report.changes`, unless an earlier release requested the report. */
  readonly change: Change;
  /** The report as data; a host that only takes text gets `report.text`. */
  readonly report: Report;
  /** What came of earlier reports about the same item and change. Absent: not known, so the host is asked before it is written to. */
  readonly earlier?: EarlierReports;
  /**
   * Since when this process alone makes reports of the pipeline, on the first try of a report that it requested itself and that repeats
   * no other: what the host showed after that can differ by its own writes only. Absent: this report may have been tried before.
   */
  readonly aloneSince?: Nanoseconds;
}

/** `done`: the host has the report, or the reporter's configuration asks for none. */
export type ReporterOutcome = HostSteps & {
  /** Where the host has what was written, e.g. ids: handed to the item's next report. Longer than `LONGEST_MEMORY` it is not kept. */
  readonly memory?: Json;
} & (
    | { readonly kind: 'done' }
    | ({ readonly kind: 'later' } & HostLater)
    /** The host refuses it for good; `text` says why. */
    | { readonly kind: 'failed'; readonly text: string }
  );

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
  /**
   * Shows where an item is (`report.progress`) on what its start has written; begins and ends nothing there, and writes nothing
   * where it does not know that place. Best effort: a text that gets lost is not sent again. Called at most once a minute for an
   * item, never beside a report of the item nor after its result. Absent: the host has no place for it.
   *
   * `steps` of the answer are empty when the host was not asked.
   *
   * @throws as `report` does.
   */
  progress?(request: ReportRequest, signal: AbortSignal, mayAct: () => boolean): Promise<ReporterOutcome>;
}

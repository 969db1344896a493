/** Reports results to the host: notes, comments, votes, checks. */
import type { Change } from '../model/change.ts';
import type { Json } from '../model/job.ts';
import type { Report } from '../model/report.ts';
import type { HostLater } from './host-later.ts';

export interface ReportRequest {
  /** As `parseReporter` returned it. */
  readonly config: Json;
  /** The change to report on; one of `report.changes`, unless an earlier release requested the report. */
  readonly change: Change;
  /** All of it as data; a host without structure of its own shows `report.text`. */
  readonly report: Report;
}

export type ReporterOutcome =
  | { readonly kind: 'done' }
  | ({ readonly kind: 'later' } & HostLater)
  /** The host will never take it; `text` says why. */
  | { readonly kind: 'failed'; readonly text: string };

export interface Reporter {
  /**
   * Must be repeatable: a call after a crash first asks the host whether the deed is done already.
   *
   * @param mayAct to be asked directly before each change at the host: false when another process may be acting in our
   *   place. Absent: always true.
   * @throws when the host cannot be reached, which counts as `later`, or when it may not act: the caller retries with back-off if it
   *   still may.
   */
  report(request: ReportRequest, signal: AbortSignal, mayAct?: () => boolean): Promise<ReporterOutcome>;
}

/** Reports results to the host: notes, comments, votes. */
import type { Change } from '../model/change.ts';
import type { Json } from '../model/job.ts';
import type { ReportAction } from '../model/pipeline.ts';
import type { HostLater } from './host-later.ts';

/** What a reporter is asked to say. */
export interface ReportRequest {
  readonly action: ReportAction;
  /** As `parseReporter` returned it. */
  readonly config: Json;
  readonly change: Change;
  readonly tenant: string;
  readonly pipeline: string;
  readonly item: string;
  /** Complete text for people, several lines. */
  readonly message: string;
  readonly result: string;
  /** Page of the item or buildset. */
  readonly url: string;
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

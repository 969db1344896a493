/** The writing side of a connection: results are reported to the host, tested changes land there. */
import type { Change } from '../model/change.ts';
import type { ReportOutcome } from '../model/event.ts';
import type { Json } from '../model/job.ts';
import type { ReportAction } from '../model/pipeline.ts';
import type { CommitId } from '../model/project.ts';

/** What a reporter is asked to say, or to do. */
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
  /** What was tested for the change's project and branch; absent for reports before the end and for ref updates. */
  readonly tested?: { readonly base: CommitId; readonly commit: CommitId; readonly before: CommitId };
}

export interface Reporter {
  /**
   * Says it, and for a merging reporter lands exactly `tested.commit`. Must be repeatable: a call after a crash first
   * asks the host whether the deed is done already.
   *
   * @param mayAct to be asked directly before each change at the host: false when another process may be acting in our
   *   place. Absent: always true.
   * @throws when the host cannot be reached, or when it may not act: the caller retries with back-off if it still may. The
   *   error has `unsettled: true` when a landing was sent and its outcome is not known.
   */
  report(request: ReportRequest, signal: AbortSignal, mayAct?: () => boolean): Promise<ReportOutcome>;
  /**
   * Whether what the request would land is in the branch; changes nothing. No such method: the driver lands nothing.
   *
   * @throws when the host cannot be reached.
   */
  hasLanded?(request: ReportRequest, signal: AbortSignal): Promise<boolean>;
}

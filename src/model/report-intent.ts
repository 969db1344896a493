/** A report that is going to be made, durable before the host is asked; self-contained, so that any scheduler can make it. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import type { Change } from './change.ts';
import type { EarlierReports } from './earlier-reports.ts';
import type { Json } from './job.ts';
import type { LandingMode } from './landed.ts';
import type { MergedBranch } from './merge.ts';
import type { ReportAction } from './pipeline.ts';
import type { ConnectionName, PipelineName, TenantName } from './project.ts';
import type { ReportDetails } from './report.ts';

/** Stored as the record `report-intent`, in the multi-write that decides the report. */
export interface ReportIntent {
  readonly uuid: Uuid;
  readonly tenant: TenantName;
  readonly pipeline: PipelineName;
  /** null: nothing was enqueued; the report explains a refusal. */
  readonly item: Uuid | null;
  readonly action: ReportAction;
  /** Its item waits for the answer; absent: no item does. */
  readonly awaited?: true;
  /** Its changes land in one go with those of other intents, of which this is the uuid of the first. Absent: they land alone. */
  readonly together?: Uuid;
  /** Its item has had the answer: what is left are words. */
  readonly answered?: true;
  /** The same was requested before, and the host may have taken it without an answer; absent: it was not. */
  readonly repeats?: true;
  /** In Zuul's words; empty for start and enqueue. */
  readonly result: string;
  readonly requestedAt: Nanoseconds;
  /** The report's text. */
  readonly message: string;
  /** Page of the item. */
  readonly url: string;
  /** The rest of the report. */
  readonly details: ReportDetails;
  /** One per change and reporter, those that land the change first. */
  readonly parts: readonly {
    readonly connection: ConnectionName;
    readonly config: Json;
    readonly merges: boolean;
    /** Of a part that merges; absent: `push`. */
    readonly mode?: LandingMode;
    readonly change: Change;
    readonly tested?: MergedBranch;
    /** What came of the item's reports before this one; absent: not known. */
    readonly earlier?: EarlierReports;
  }[];
}

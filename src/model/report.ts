/**
 * A report as data: everything a code host may show about an item, of which {@link Report.text} is one rendering.
 *
 *     { action: 'failure', result: 'FAILURE', place: { tenant: 'acme', pipeline: 'gate', queue: null },
 *       changes: [...], jobs: [{ name: 'unit', result: 'FAILURE', voting: true, url: 'http://…', ... }],
 *       reason: null, fileComments: [], urls: { item: 'http://…', trace: null }, text: 'Build failed (gate).\n…', ... }
 *
 * Made by `src/scheduler/report/report-facts.ts`, rendered by `report-text.ts` beside it, stored with the report's intent.
 */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import type { Change, ChangeKey } from './change.ts';
import type { ConfigError } from './config-error.ts';
import type { Variables } from './job.ts';
import type { Notice } from './notice.ts';
import type { ReportAction } from './pipeline.ts';
import type { BranchName, JobName, PipelineName, ProjectKey, TenantName } from './project.ts';
import type { BuildResult } from './results.ts';
import type { Artifact, CommentRange } from './returned.ts';

/** One job in a report. */
export interface ReportedJob {
  readonly name: JobName;
  /** Of the job's last build; null: it has not ended. */
  readonly result: BuildResult | null;
  readonly voting: boolean;
  /** Page of the last build; null: the job has no build. */
  readonly url: string | null;
  /** When an executor took the build; null: none did, or the build did not run to its end. */
  readonly startedAt: Nanoseconds | null;
  /** Null where `startedAt` is. */
  readonly endedAt: Nanoseconds | null;
  /** The job's `success-message` or `failure-message`, shown in place of the result. */
  readonly message?: string;
  /** One line: why the build failed, as far as the executor knows, or why the job was skipped. */
  readonly detail?: string;
}

/** Why the item has no job results, or not these alone: the first reason that applies. */
export type ReportReason =
  /** A requirement, a dependency, the host: one or more lines. */
  | { readonly kind: 'refused'; readonly text: string }
  | {
      readonly kind: 'conflict';
      readonly project: ProjectKey;
      /** The change ahead that touched one of the files; absent: the branch itself conflicts. */
      readonly with?: ChangeKey;
      readonly files: readonly string[];
    }
  /** All errors of the configuration that the change brings. */
  | { readonly kind: 'configuration'; readonly errors: readonly ConfigError[] }
  | { readonly kind: 'no-jobs'; readonly text: string }
  /** The same state was tested with success. `url`: page of the item that tested it. */
  | { readonly kind: 'tested-before'; readonly url: string };

/** A remark about a line of a file that one of the report's changes may hold. */
export interface FileComment {
  readonly project: ProjectKey;
  readonly branch: BranchName;
  /** Path in the repository. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly severity: ConfigError['severity'] | 'info';
  readonly text: string;
  /** Absent: the line is all that is known. */
  readonly range?: CommentRange;
  /** That returned it; absent: an error of the configuration. */
  readonly job?: JobName;
}

/** What a reporter gets. */
export interface Report {
  readonly action: ReportAction;
  /** In Zuul's words, e.g. `SUCCESS`; empty for start and enqueue. */
  readonly result: string;
  /** With `action` the key of this report at the host; null: nothing was enqueued, the report explains a refusal. */
  readonly item: Uuid | null;
  readonly place: {
    readonly tenant: TenantName;
    readonly pipeline: PipelineName;
    /** Null: nothing was enqueued. */
    readonly queue: ReportedQueue | null;
  };
  /** All changes of the item, oldest first. Empty only in reports that 0.3 requested. */
  readonly changes: readonly Change[];
  /** First line of the text, as the pipeline words it. */
  readonly headline: string;
  /** Null: the jobs are the reason. */
  readonly reason: ReportReason | null;
  /** In configuration order, those that are still to run as well. Empty before the jobs are known. */
  readonly jobs: readonly ReportedJob[];
  readonly fileComments: readonly FileComment[];
  /** Why the item was tested again, oldest first, one clause each. */
  readonly retests: readonly string[];
  /** Left by jobs (`zuul.warnings`), or about what they returned: one line each, `<job>: <text>`. Absent: none, or the item is not over. */
  readonly warnings?: readonly string[];
  readonly urls: {
    /** Page of the item; of a refusal the tenant's status page. */
    readonly item: string;
    /** The item's trace in the trace viewer; null: no trace that readers of the report can open. */
    readonly trace: string | null;
  };
  /** A rule of `[notify NAME]` asked for this message; the headline says what happened. Absent: the pipeline asked for it. */
  readonly notice?: Notice;
  /** Where the item is now; only in what is shown before its result. */
  readonly progress?: ReportedProgress;
  /** The pipeline's own last paragraph. */
  readonly footer?: string;
  /** Only in messages about an item. */
  readonly reported?: ReportedItem;
  /** All of it for people, several lines without a newline at the end. */
  readonly text: string;
}

/** Where an item is on its way. */
export interface ReportedProgress {
  /** Items ahead of it in its change queue. */
  readonly ahead: number;
  /** Its place there, 1 the head. */
  readonly position: number;
  /** When it will probably leave, to five minutes; null: there is no forecast. */
  readonly eta: Nanoseconds | null;
  /** Jobs that an executor works on, in configuration order. */
  readonly running: readonly JobName[];
}

interface ReportedQueue {
  /** Key of the change queue, unique in the pipeline. */
  readonly name: string;
  /** The item's place when it entered, 1 the head; null: not recorded. */
  readonly entryPosition: number | null;
}

/** What only messages say of an item: Zuul's words for MQTT are made of it. */
export interface ReportedItem {
  /** Uuid of the event that it came with, and when that was received. */
  readonly event: Uuid;
  readonly receivedAt: Nanoseconds;
  readonly enqueuedAt: Nanoseconds;
  readonly buildset: Uuid;
  /** One for each job, in configuration order. */
  readonly builds: readonly ReportedBuild[];
  /** Builds that were retried. */
  readonly retried: readonly ReportedBuild[];
}

/** A build of a job; all but the job's own facts is null while there is none. */
export interface ReportedBuild {
  readonly job: JobName;
  readonly voting: boolean;
  readonly dependencies: readonly JobName[];
  readonly uuid: Uuid | null;
  readonly result: BuildResult | null;
  readonly requestedAt: Nanoseconds | null;
  readonly startedAt: Nanoseconds | null;
  readonly endedAt: Nanoseconds | null;
  /** Its page. */
  readonly url: string | null;
  /** Where it says that its logs are, else its log as text; null: it did not start. */
  readonly log: string | null;
  /** Absent: it returned none. */
  readonly artifacts?: readonly Artifact[];
  /** What it returned for other jobs, where the reporter asks for it. Absent: nothing, or more than a message holds. */
  readonly data?: Variables;
}

/** What an intent stores of its report beside its own fields. */
export type ReportDetails = Pick<
  Report,
  | 'changes'
  | 'headline'
  | 'reason'
  | 'jobs'
  | 'fileComments'
  | 'retests'
  | 'warnings'
  | 'footer'
  | 'reported'
  | 'notice'
> & {
  readonly queue: ReportedQueue | null;
  readonly traceUrl: string | null;
};

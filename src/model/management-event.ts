/** What people ask of pipelines: operators over the web, and others at their code host. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import type { ChangeKey } from './change.ts';
import type { HaltMode } from './halt.ts';
import type { CommitId, ProjectKey } from './project.ts';
import type { SpanReference } from './span.ts';

/** In the queue of a pipeline; what is to enter comes as its `enqueue`. */
export type ManagementEvent =
  /** An operator's request, or a person's at the code host. */
  | {
      readonly kind: 'dequeue';
      readonly uuid: Uuid;
      readonly change: ChangeKey;
      /** Only this item; absent: every item of the change. */
      readonly item?: Uuid;
      readonly by: string;
      readonly management?: ManagementOrigin;
    }
  /** An operator's request: the pipeline, or one of its queues, is paused, drained, or goes on. */
  | {
      readonly kind: 'halt';
      readonly uuid: Uuid;
      /** Name of a queue; null: the pipeline. */
      readonly queue: string | null;
      readonly wanted: HaltMode | 'resume';
      /** For people; empty with `resume`. */
      readonly reason: string;
      readonly by: string;
      readonly management: ManagementOrigin;
    }
  /** An operator's request: jobs of it that failed run again. */
  | {
      readonly kind: 'rerun';
      readonly uuid: Uuid;
      readonly item: Uuid;
      readonly change: ChangeKey;
      readonly by: string;
      readonly management: ManagementOrigin;
    }
  /** An operator's request, or a person's at the code host: the changes go to the heads of their queues. */
  | {
      readonly kind: 'promote';
      readonly uuid: Uuid;
      /** In the order that they shall have; not empty. */
      readonly changes: readonly ChangeKey[];
      readonly by: string;
      readonly management?: ManagementOrigin;
    };

/** What an operator wants to enter a pipeline; the host is asked for the rest. */
export type RequestedChange =
  | {
      readonly kind: 'change';
      readonly key: ChangeKey;
      /** As it was written, e.g. `3f2a91c0` of `login,3f2a91c0`; absent: the present one. */
      readonly patchset?: string;
    }
  | {
      readonly kind: 'ref';
      readonly project: ProjectKey;
      /** Full name. */
      readonly ref: string;
      /** Null: it is not known, or the ref did not exist. */
      readonly from: CommitId | null;
      /** Null: where the branch is now. */
      readonly to: CommitId | null;
    };

/** Where a request of a person came in. */
export interface ManagementOrigin {
  readonly receivedAt: Nanoseconds;
  readonly storedAt: Nanoseconds;
  /** Machine of the web that took it in; absent: not recorded. */
  readonly receiver?: string;
  /** The span of our command line, or of another authenticated client: the root of the trace links to it. */
  readonly caller?: SpanReference;
  /** Root of the trace of the host's event that it came with; absent: it came from an operator. */
  readonly follows?: SpanReference;
  readonly sampled: boolean;
}

/** A pipeline as configured: which events it takes, how it queues, how it reports. */
import type { Json } from './job.ts';
import type { ConnectionName, PipelineName } from './project.ts';

/** How a pipeline queues: `src/pipeline/manager/` has what each one means. */
export const MANAGER_NAMES = ['independent', 'dependent', 'serial', 'supercedent'] as const;

/** One of {@link MANAGER_NAMES}. */
export type ManagerName = (typeof MANAGER_NAMES)[number];

/** Which pipeline's requests are served first. */
export type Precedence = 'high' | 'normal' | 'low';

/** When a reporter speaks. */
export const REPORT_ACTIONS = [
  'enqueue',
  'start',
  'success',
  'failure',
  'merge-conflict',
  'config-error',
  'no-jobs',
  'dequeue',
  'disabled',
] as const;

/** One of {@link REPORT_ACTIONS}. */
export type ReportAction = (typeof REPORT_ACTIONS)[number];

/** One entry of a pipeline's trigger, require, reject or reporter for one connection, checked by that connection's driver. */
export interface DriverConfig {
  readonly connection: ConnectionName;
  /** As the driver's parser returned it: plain JSON, understood by that driver alone. */
  readonly config: Json;
  /** `project@branch:file:line`, for decisions that quote it. */
  readonly definedAt: string;
}

/** How many items of a queue may be tested at the same time, and how that number changes. */
export interface WindowPolicy {
  /** Items that may run at once; 0: no limit. Default 20 (dependent), 0 (independent). */
  readonly initial: number;
  /** Never below. Default 3. */
  readonly floor: number;
  /** Never above; undefined: none. */
  readonly ceiling?: number;
  readonly increase: { readonly type: 'linear' | 'exponential'; readonly factor: number };
  readonly decrease: { readonly type: 'linear' | 'exponential'; readonly factor: number };
}

/** One pipeline of a layout, complete with defaults. Made by `src/layout/build/build-pipeline.ts`. */
export interface Pipeline {
  readonly name: PipelineName;
  readonly manager: ManagerName;
  readonly description?: string;
  readonly precedence: Precedence;
  readonly postReview: boolean;
  readonly triggers: readonly DriverConfig[];
  readonly require: readonly DriverConfig[];
  readonly reject: readonly DriverConfig[];
  readonly reporters: { readonly [action in ReportAction]: readonly DriverConfig[] };
  readonly messages: { readonly [action in ReportAction | 'footer']?: string };
  readonly window: WindowPolicy;
  /** Pipelines whose item of a change is dequeued when that change enters this one. */
  readonly supercedes: readonly PipelineName[];
  readonly dequeueOnNewPatchset: boolean;
  readonly allowOtherConnections: boolean;
  /** Independent: each change is tested without those that it needs. */
  readonly ignoresDependencies?: true;
  /** A merge group in a state that was tested with success gets that result. */
  readonly reuseResults?: true;
  /** Each change that passed moves its branch by itself. Absent: those that passed together land together. */
  readonly landsOneByOne?: true;
  /** Consecutive failures after which reports go to `disabled`; undefined: never. */
  readonly disableAfterConsecutiveFailures?: number;
}

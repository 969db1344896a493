/**
 * A timed step inside a worker: a fetch, a checkout, a playbook. Steps travel with the answer of the worker, are stored on
 * the record they belong to, and become spans (`src/tracing/spans/`). A step has no uuid: its span id is derived from its
 * parent, its name and its position.
 */
import type { Nanoseconds } from '../lib/clock.ts';

/** The kind of a step, and of its span. */
export type StepKind =
  // merger
  | 'FetchRefs'
  | 'MergeChanges'
  | 'ReadConfig'
  // executor
  | 'BuildRepoCheck'
  | 'BuildRepoAccess'
  | 'BuildRepoUpdateLock'
  | 'BuildRepoUpdate'
  | 'BuildCloneRepo'
  | 'BuildMergeChanges'
  | 'BuildCheckoutSize'
  | 'BuildSetRepoState'
  | 'BuildCheckout'
  | 'JobSetup'
  | 'Playbook'
  /** Of a playbook, for semaphores that it holds; the span of a job's has that kind, too. */
  | 'SemaphoreWait'
  /** Between run and post-run, while those that depend on the build run. */
  | 'Pause'
  /** Results of tests in what the job left are read; its facts have the sums. */
  | 'TestResults'
  | 'Cleanup'
  // below a playbook, as far as it reports them
  | 'AnsiblePlay'
  | 'AnsibleTask'
  | 'ScriptStep'
  /** Below the playbook that left the file, a suite with those of its cases that failed. */
  | 'TestSuite'
  | 'TestCase'
  // driver, while it processes an event
  | 'HostQuery'
  /** The code host did not serve. */
  | 'HostWait';

/** One step, with the steps below it. */
export interface Step {
  readonly kind: StepKind;
  /** What it worked on: a project, a playbook (`run/test.sh`). */
  readonly subject: string;
  readonly startedAt: Nanoseconds;
  readonly endedAt: Nanoseconds;
  /** Set when it has a result of its own, e.g. a playbook. */
  readonly result?: 'SUCCESS' | 'FAILURE' | 'TIMED_OUT' | 'ABORTED';
  /**
   * Name unlike any other below the same parent, when the span's id must be known before the step ends (a script's step gets
   * its own id): the id then derives from the parent's and this alone, see `keyedStepSpanId` of `src/tracing/span-ids.ts`.
   */
  readonly key?: string;
  /** It belongs to the continuation trace of its build, see `Execution.continuedAt`. Only on steps of the build itself. */
  readonly continued?: true;
  /** Parts of it, in order of start: the plays of a playbook, the tasks of a play, the steps of a script. */
  readonly steps?: readonly Step[];
  /** Short facts for the span, from the allow-list of its kind (`src/tracing/spans/`). */
  readonly facts?: { readonly [name: string]: string | number | boolean };
}

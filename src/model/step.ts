/**
 * A timed step inside a worker: a fetch, a checkout, a playbook. Steps travel with the answer of the worker, are stored on
 * the record they belong to, and become spans (`src/tracing/spans/`). A step has no uuid: its span id is derived from its
 * parent, its name and its position.
 */
import type { Nanoseconds } from '../lib/clock.ts';

export type StepKind =
  // merger
  | 'FetchRefs'
  | 'MergeChanges'
  | 'ReadConfig'
  // executor
  | 'BuildRepoUpdate'
  | 'BuildCloneRepo'
  | 'BuildCheckout'
  | 'JobSetup'
  | 'Playbook'
  | 'Cleanup';

export interface Step {
  readonly kind: StepKind;
  /** What it worked on: a project, a playbook (`run/test.sh`). */
  readonly subject: string;
  readonly startedAt: Nanoseconds;
  readonly endedAt: Nanoseconds;
  /** Set when it has an outcome of its own, e.g. a playbook. */
  readonly result?: 'SUCCESS' | 'FAILURE' | 'TIMED_OUT' | 'ABORTED';
  /** Short facts for the span, from the allow-list of its kind (`src/tracing/spans/`). */
  readonly facts?: { readonly [name: string]: string | number | boolean };
}

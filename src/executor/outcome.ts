/**
 * The result of a build, from how its phases ended. Pure.
 *
 *     stopped by a cancel            CANCELED, always
 *     over the disk limit            DISK_FULL
 *     our own failure, or stopped with the executor    RETRY, unless run had failed before: a verdict is never retried
 *     pre-run failed or timed out    RETRY (it prepares; it is not what is tested), FAILURE where the build returned `zuul.retry: false`
 *     run failed / timed out         FAILURE / TIMED_OUT, also when post-run fails as well
 *     a host could not be reached    RETRY, in run and in post-run, unless run had failed before
 *     post-run failed or timed out   POST_FAILURE, never retried
 */
import type { HostTrouble } from '../model/host-trouble.ts';
import type { BuildResult } from '../model/results.ts';
import type { Phase } from './job-environment.ts';
import type { ReturnedOrders } from './returned/zuul-members.ts';

/** How one playbook ended. */
export type PlaybookEnd =
  | { readonly kind: 'passed' }
  | {
      readonly kind: 'failed' | 'timed-out' | 'unreachable';
      readonly detail: string;
      readonly exitCode: number | null;
    }
  /** Ends the build immediately: no further playbook, not even of post-run. */
  | { readonly kind: 'cancelled' | 'disk-full' | 'broken'; readonly detail: string };

/** The first playbook that did not pass, per phase; absent: the phase passed or had nothing to do. */
export type PhaseEnds = { readonly [phase in Phase]?: Exclude<PlaybookEnd, { kind: 'passed' }> };

/** The result of a build as it is reported; `detail` says why, for people, and is absent for SUCCESS. */
export interface BuildOutcome {
  readonly result: BuildResult;
  readonly detail?: string;
  /** Of a RETRY: set when the code host caused it. */
  readonly trouble?: HostTrouble;
}

/** By the table of the head comment. */
export function outcomeOf(ends: PhaseEnds, { retry }: Pick<ReturnedOrders, 'retry'>): BuildOutcome {
  const { 'pre-run': pre, run, 'post-run': post } = ends;
  const final = [pre, run, post].find(end => end !== undefined && isFinalEnd(end));
  const judged = isVerdict(run);
  if (final !== undefined && !(judged && final.kind === 'broken'))
    return { result: FINAL[final.kind], detail: final.detail };
  if (pre !== undefined) return { result: retry ? 'RETRY' : 'FAILURE', detail: pre.detail };
  if (judged) return { result: run.kind === 'timed-out' ? 'TIMED_OUT' : 'FAILURE', detail: run.detail };
  const away = [run, post].find(end => end?.kind === 'unreachable');
  if (away !== undefined) return { result: 'RETRY', detail: away.detail };
  if (post !== undefined) return { result: 'POST_FAILURE', detail: post.detail };
  return { result: 'SUCCESS' };
}

const FINAL: { readonly [kind in Exclude<PlaybookEnd, { kind: 'passed' }>['kind']]: BuildResult } = {
  cancelled: 'CANCELED',
  'disk-full': 'DISK_FULL',
  broken: 'RETRY',
  failed: 'FAILURE',
  'timed-out': 'TIMED_OUT',
  unreachable: 'RETRY',
};

type Unpassed = Exclude<PlaybookEnd, { kind: 'passed' }>;

/** Whether the run phase failed by its own doing: that is never retried. */
export function isVerdict(run: Unpassed | undefined): run is Unpassed & { kind: 'failed' | 'timed-out' } {
  return run !== undefined && !isFinalEnd(run) && run.kind !== 'unreachable';
}

/** Whether nothing more may run after this. */
export function isFinalEnd(end: PlaybookEnd): boolean {
  return end.kind === 'cancelled' || end.kind === 'disk-full' || end.kind === 'broken';
}

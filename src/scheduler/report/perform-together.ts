/**
 * Performs the reports of items that land together: first all landings, in order (land-in-order.ts), then what each item reports of
 * its own, side by side.
 *
 * Landings do not wait for words: what is not announced within seconds is left for later, and the items behind go on.
 */
import { pause } from '../../lib/pause.ts';
import { unlessAborted } from '../../lib/unless-aborted.ts';
import { hasLanded } from '../../model/landed.ts';
import type { ReportIntent } from '../../model/report-intent.ts';
import { landReportsInOrder } from './land-in-order.ts';
import type { PerformReportDeps } from './perform-part.ts';
import { type PerformedReport, performReport } from './perform-report.ts';

/** Milliseconds: the notes of all usually take one push. */
const LONGEST_ANNOUNCING = 2_000;

export interface PerformTogetherDeps extends PerformReportDeps {
  /** Runs a task behind the reports of the same item that are under way. Stopped before its turn, the task does not begin. */
  inLane(intent: ReportIntent, task: () => Promise<void>): Promise<void>;
}

/** @param intents in the order of their items. @returns the same number. @throws as `performReport`. */
export async function performTogether(
  intents: readonly ReportIntent[],
  deps: PerformTogetherDeps,
  signal: AbortSignal,
): Promise<readonly PerformedReport[]> {
  const answers = await landReportsInOrder(intents, deps, signal);
  if (answers === undefined) return performOneByOne(intents, deps, signal);
  const late = new AbortController();
  const ended = AbortSignal.any([signal, late.signal]);
  void pause(LONGEST_ANNOUNCING, ended).then(() => late.abort());
  try {
    return await Promise.all(
      intents.map(intent => announce(intent, { ...deps, joint: { answers, announcing: ended } }, signal)),
    );
  } finally {
    late.abort();
  }
}

/** Each when the one before it has landed. */
async function performOneByOne(
  intents: readonly ReportIntent[],
  deps: PerformReportDeps,
  signal: AbortSignal,
): Promise<readonly PerformedReport[]> {
  const performed: PerformedReport[] = [];
  let hasAll = true;
  for (const intent of intents) {
    const none = { answers: new Map(), announcing: signal };
    const next = await performReport(intent, hasAll ? deps : { ...deps, joint: none }, signal);
    performed.push(next);
    hasAll &&= letsOthersLand(next);
  }
  return performed;
}

/** It has landed, or nothing lands in this tenant. */
function letsOthersLand({ outcome }: PerformedReport): boolean {
  return outcome.kind === 'done' ? hasLanded(outcome.landed) : outcome.kind === 'withheld';
}

/** Behind what is being reported of the item already, e.g. that its jobs have started. */
async function announce(
  intent: ReportIntent,
  deps: PerformTogetherDeps & Required<Pick<PerformTogetherDeps, 'joint'>>,
  signal: AbortSignal,
): Promise<PerformedReport> {
  const { announcing } = deps.joint;
  const performed = Promise.withResolvers<PerformedReport>();
  void deps.inLane(intent, async () => {
    if (announcing.aborted) return;
    const work = performReport(intent, deps, signal);
    performed.resolve(work);
    await work.catch(() => {});
  });
  const inTime = await unlessAborted(() => performed.promise, announcing);
  return inTime ?? performReport(intent, { ...deps, joint: { ...deps.joint, announcing: ABORTED } }, signal);
}

/** Nothing is announced. */
const ABORTED = AbortSignal.abort();

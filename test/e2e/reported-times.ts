/**
 * A service that is dead does nothing, and this is known from outside: when its process had ended, and when the next one wrote that
 * its executor is about to begin. What items report of that time is checked against it.
 */

import { explainItem } from '../../src/explain/explain.ts';
import { sum } from '../../src/lib/time-window.ts';
import type { QueueItem } from '../../src/model/queue-item.ts';
import { accountOf, largestDifference } from '../fake/account-of-spans.ts';
import type { CheckedSpan } from '../fake/check-traces.ts';

/** In nanoseconds. */
export interface DeadTime {
  readonly from: bigint;
  readonly to: bigint;
}

const MILLISECOND = 1_000_000n;
/** Of two processes' clocks, which are set by the machine's to a millisecond. */
const CLOCKS = 5n * MILLISECOND;

/** @param log what the next process printed, in text. @returns when its executor was about to begin. */
export function beginOfExecutor(log: string, diedAt: number): number {
  const [, clock] = /^(\d\d:\d\d:\d\d\.\d{3}) .*\bsandbox: /m.exec(log) ?? [];
  if (clock === undefined) throw new Error(`no executor began:\n${log}`);
  const sameDay = Date.parse(`${new Date(diedAt).toISOString().slice(0, 10)}T${clock}Z`);
  return sameDay < diedAt ? sameDay + 86_400_000 : sameDay;
}

/** One sentence for each impossible statement that an item which left makes about its time. */
export function timeProblems(
  item: QueueItem,
  spans: readonly CheckedSpan[],
  dead: readonly DeadTime[],
): readonly string[] {
  if (item.phase.phase !== 'left') return [`${item.uuid} has not left`];
  const explained = explainItem(item, item.phase.at);
  const life = { from: BigInt(item.enqueuedAt), to: BigInt(item.phase.at) };
  const problems: string[] = [];
  for (const part of ['stretches', 'totals', 'criticalPath'] as const) {
    const total = sum(explained[part].map(({ duration }) => duration));
    if (total !== explained.duration) problems.push(`${part} sum to ${total} of ${explained.duration} ns`);
  }
  const account = accountOf(spans);
  if (account.duration !== BigInt(explained.duration)) problems.push('its root span is not its life');
  if (largestDifference(explained.totals, account.totals) > MILLISECOND)
    problems.push('its spans have other states than its explanation');
  problems.push(...account.overlaps.map(each => `at once: ${each}`));
  const worked = explained.stretches.filter(({ state }) => state === 'running');
  for (const time of dead) {
    const surely = { from: time.from + CLOCKS, to: time.to - CLOCKS };
    for (const { from, to } of worked) {
      const claimed = overlap({ from: BigInt(from), to: BigInt(to) }, surely);
      if (claimed > 0n) problems.push(`ran for ${claimed} ns while no process was there`);
    }
    // It was there before, and after.
    const isThrough = life.from < time.from - CLOCKS && life.to > time.to;
    const isMarked = explained.takeovers.some(
      ({ since, at }) => BigInt(since) <= time.from + CLOCKS && BigInt(at) >= time.from,
    );
    if (isThrough && !isMarked) problems.push(`names no takeover of the one killed at ${time.from}`);
  }
  return problems.map(each => `${item.pipeline} ${item.uuid}: ${each}`);
}

function overlap(a: DeadTime, b: DeadTime): bigint {
  const from = a.from > b.from ? a.from : b.from;
  const to = a.to < b.to ? a.to : b.to;
  return from < to ? to - from : 0n;
}

/** Deletes history older than `[history] keep`, in steps of {@link MOST} items with a pause after each. */
import type { History } from '../../history/history.ts';
import { addMilliseconds, type Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { pause } from '../../lib/pause.ts';
import type { MetricsSink } from '../../metrics/registry.ts';

/** Milliseconds between two passes. */
const INTERVAL = 600_000;
/** Milliseconds between two steps, for other writers. */
const REST = 50;
const MOST = 200;

/** `keep` bounds the age of items, decisions and traces; the number of traces is bounded in any case. */
export interface PruneDeps {
  readonly history: Pick<History, 'prune'>;
  /** Seconds; undefined: for ever. */
  readonly keep: number | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: MetricsSink;
}

/** Returns when aborted. An unreachable database is tried again in the next pass. */
export async function pruneHistory(deps: PruneDeps, signal: AbortSignal): Promise<void> {
  const { keep, log } = deps;
  while (!signal.aborted) {
    try {
      const pruned = await pruneAll(keep, deps, signal);
      if (pruned > 0) log.info({ pruned, keep }, `pruned ${pruned} old items from the history`);
    } catch (error) {
      log.warn({ err: error }, 'cannot prune the history; trying again later');
    }
    await pause(INTERVAL, signal);
  }
}

/** @returns the number of deleted items. */
async function pruneAll(
  keep: number | undefined,
  { history, clock, metrics }: PruneDeps,
  signal: AbortSignal,
): Promise<number> {
  const before = keep === undefined ? undefined : addMilliseconds(clock.now(), -keep * 1000);
  let all = 0;
  while (!signal.aborted) {
    const pruned = await history.prune({ before, most: MOST });
    if (pruned.items + pruned.decisions + pruned.traces === 0) return all;
    all += pruned.items;
    metrics.record([
      { metric: 'gatehouse_history_pruned', labels: { kind: 'items' }, value: pruned.items },
      { metric: 'gatehouse_history_pruned', labels: { kind: 'decisions' }, value: pruned.decisions },
      { metric: 'gatehouse_history_pruned', labels: { kind: 'traces' }, value: pruned.traces },
    ]);
    await pause(REST, signal);
  }
  return all;
}

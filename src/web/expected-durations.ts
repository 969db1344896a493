/** Usual durations of jobs, cached so that a busy page does not query the database at every change. */

import type { History } from '../history/history.ts';
import type { Clock } from '../lib/clock.ts';
import { leadChange } from '../model/about-item.ts';
import { graphOf } from '../model/build-set.ts';
import type { QueueItem } from '../model/queue-item.ts';

const KEEP_MS = 60_000;

/** Means of the jobs' last successes for the project of the item's change, at most a minute old. */
export interface ExpectedJobDurations {
  /** Milliseconds by job name; jobs that never succeeded are absent. */
  of(item: QueueItem): Promise<ReadonlyMap<string, number>>;
}

/** One per web: its cache is shared by the routes and the streams. */
export function expectedDurations(deps: {
  readonly history: Pick<History, 'expectedDuration'>;
  readonly clock: Clock;
}): ExpectedJobDurations {
  const known = new Map<string, { readonly until: number; readonly mean: Promise<number | undefined> }>();

  function meanOf(tenant: string, project: string, job: string): Promise<number | undefined> {
    const key = JSON.stringify([tenant, project, job]);
    const now = deps.clock.monotonic();
    const entry = known.get(key);
    if (entry !== undefined && entry.until > now) return entry.mean;
    if (known.size > 10_000) known.clear();
    const mean = deps.history.expectedDuration({ tenant, project, job });
    known.set(key, { until: now + KEEP_MS, mean });
    return mean;
  }

  return {
    async of(item) {
      const found = new Map<string, number>();
      for (const job of graphOf(item.buildset)?.jobs ?? []) {
        const mean = await meanOf(item.tenant, leadChange(item).project, job.name);
        if (mean !== undefined) found.set(job.name, mean);
      }
      return found;
    },
  };
}

/** Forecasts of the items in the queues, made anew when a queue changes and, as time passes, every few seconds at most. */

import type { PipelineSnapshot } from '../api/tenant-snapshot.ts';
import { FORECAST_ITEMS } from '../forecast/calibration.ts';
import type { Forecast } from '../forecast/forecast.ts';
import { forecastPipeline } from '../forecast/forecast-pipeline.ts';
import {
  type FinishedWork,
  finishedWork,
  type RecentWork,
  recentWork,
  withUsual,
} from '../forecast/recent-work.ts';
import type { History } from '../history/history.ts';
import { takeFinished } from '../history/take-finished.ts';
import { addMilliseconds, type Clock } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import { CallLost } from '../lib/worker-calls.ts';
import { leadChange } from '../model/about-item.ts';
import type { PipelineState } from '../model/pipeline-state.ts';
import type { ProjectKey, TenantName } from '../model/project.ts';
import type { ExpectedJobDurations } from './expected-durations.ts';

/** Milliseconds for which finished items are not looked for again. */
const RECENT_MS = 60_000;
/** Milliseconds for which a forecast of an unchanged pipeline holds. */
const HOLDS_MS = 5_000;
/** Older items say little. */
const OLDEST_MS = 30 * 86_400_000;
/** Items of the history per page. */
const PAGE = 10;
const MOST_PIPELINES = 500;

/** One per web: the routes and the streams share what it remembers. */
export interface Forecasts {
  /** By item of the pipeline. Empty while the history does not answer. */
  of(tenant: TenantName, live: PipelineSnapshot): Promise<ReadonlyMap<Uuid, Forecast>>;
}

interface Remembered {
  readonly finished: readonly FinishedWork[];
  readonly recent: RecentWork;
}

interface Entry {
  until: number;
  /** The first reading is waited for; later ones go on beside what is known. */
  known: Promise<Remembered>;
}

/** @param deps.log gets what keeps the history from being read. */
export function forecasts(deps: {
  readonly history: Pick<History, 'itemsLeft'>;
  readonly clock: Clock;
  readonly expected: ExpectedJobDurations;
  readonly log: { warn(facts: object, text: string): void };
}): Forecasts {
  const entries = new Map<string, Entry>();
  const made = new WeakMap<
    PipelineState,
    { readonly until: number; readonly all: ReadonlyMap<Uuid, Forecast> }
  >();

  function recentOf(tenant: TenantName, pipeline: string): Promise<Remembered> {
    const key = JSON.stringify([tenant, pipeline]);
    const now = deps.clock.monotonic();
    const entry = entries.get(key);
    if (entry !== undefined && entry.until > now) return entry.known;
    const before = entry?.known ?? Promise.resolve(NOTHING);
    const next = before.then(old => readRecent(tenant, pipeline, old));
    if (entry !== undefined) {
      entry.until = now + RECENT_MS;
      void next.then(() => {
        entry.known = next;
      });
      return before;
    }
    if (entries.size >= MOST_PIPELINES) entries.clear();
    entries.set(key, { until: now + RECENT_MS, known: next });
    return next;
  }

  async function readRecent(tenant: TenantName, pipeline: string, old: Remembered): Promise<Remembered> {
    const known = new Set(old.finished.map(({ uuid }) => uuid));
    const fresh: FinishedWork[] = [];
    const since = addMilliseconds(deps.clock.now(), -OLDEST_MS);
    try {
      await takeFinished(
        deps.history,
        { tenant, pipeline, since, most: FORECAST_ITEMS, page: PAGE },
        item => {
          if (known.has(item.uuid)) return false;
          if (item.role === 'live') fresh.push(finishedWork(item));
          return true;
        },
      );
    } catch (error) {
      // A service that ends closes its history while forecasts read it.
      const ends = error instanceof CallLost && error.because === 'closed';
      if (!ends) deps.log.warn({ tenant, pipeline, err: error }, 'cannot read finished items for forecasts');
      return old;
    }
    const finished = [...fresh, ...old.finished].slice(0, FORECAST_ITEMS);
    return { finished, recent: recentWork(finished) };
  }

  /** By project, then by job; of items that are forecast. */
  async function usualOf(
    state: PipelineState,
  ): Promise<ReadonlyMap<ProjectKey, ReadonlyMap<string, number>>> {
    const usual = new Map<ProjectKey, ReadonlyMap<string, number>>();
    for (const uuid of state.queues.flatMap(({ items }) => items.slice(0, FORECAST_ITEMS))) {
      const item = state.items.get(uuid);
      if (item === undefined) continue;
      const { project } = leadChange(item);
      usual.set(project, new Map([...(usual.get(project) ?? []), ...(await deps.expected.of(item))]));
    }
    return usual;
  }

  return {
    async of(tenant, { pipeline, state }) {
      if (state.items.size === 0) return new Map();
      const { recent } = await recentOf(tenant, pipeline.name);
      const now = deps.clock.monotonic();
      const last = made.get(state);
      if (last !== undefined && last.until > now) return last.all;
      const usual = await usualOf(state);
      const known = withUsual(recent, (project, name) => usual.get(project)?.get(name));
      const all = forecastPipeline(pipeline, state, known, deps.clock.now());
      made.set(state, { until: now + HOLDS_MS, all });
      return all;
    },
  };
}

const NOTHING: Remembered = { finished: [], recent: recentWork([]) };

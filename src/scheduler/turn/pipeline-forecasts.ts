/**
 * When the items of a pipeline will leave, for its holder: what code hosts show, and notices, go by it. No turn asks for it.
 *
 * What it knows of finished items is read from the history once, where this process has one open, and learned from those that leave.
 */
import { FORECAST_ITEMS } from '../../forecast/calibration.ts';
import type { Forecast } from '../../forecast/forecast.ts';
import { forecastPipeline } from '../../forecast/forecast-pipeline.ts';
import {
  type FinishedWork,
  finishedWork,
  type RecentWork,
  recentWork,
  withUsual,
} from '../../forecast/recent-work.ts';
import type { History } from '../../history/history.ts';
import { takeFinished } from '../../history/take-finished.ts';
import { addMilliseconds, type Clock } from '../../lib/clock.ts';
import type { Uuid } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import type { Pipeline } from '../../model/pipeline.ts';
import type { PipelineState } from '../../model/pipeline-state.ts';
import type { PipelineName, TenantName } from '../../model/project.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import type { ExpectedDurations } from './expected-durations.ts';

/** Of one pipeline in one scheduler. */
export interface PipelineForecasts {
  /** Items have left. */
  learn(left: readonly QueueItem[]): void;
  /** What is known of finished items. */
  recent(): Promise<RecentWork>;
  /** By item, at most {@link HOLDS_MS} old. */
  of(state: PipelineState, pipeline: Pipeline): Promise<ReadonlyMap<Uuid, Forecast>>;
}

/** `history` absent: this process has none open. */
export interface PipelineForecastsDeps {
  readonly tenant: TenantName;
  readonly pipeline: PipelineName;
  readonly clock: Clock;
  readonly log: Log;
  readonly expected: Pick<ExpectedDurations, 'of'>;
  readonly history?: Pick<History, 'itemsLeft'> | undefined;
}

/** Milliseconds for which a forecast is good enough; it costs about ten of processor time. */
const HOLDS_MS = 15_000;
/** Older items say little. */
const OLDEST_MS = 30 * 86_400_000;
/** Milliseconds before a history that could not be read is read again. */
const READ_AGAIN_MS = 600_000;
/** Items of the history per page. */
const PAGE = 10;

/** Reads nothing before it is asked. */
export function createPipelineForecasts(deps: PipelineForecastsDeps): PipelineForecasts {
  const { tenant, clock, history } = deps;
  let finished: readonly FinishedWork[] = [];
  let known: RecentWork | undefined;
  let made: { readonly until: number; readonly all: ReadonlyMap<Uuid, Forecast> } | undefined;
  let reading: { readonly until: number; readonly done: Promise<void> } | undefined;

  async function read(): Promise<void> {
    if (history === undefined) return;
    const older: FinishedWork[] = [];
    const since = addMilliseconds(clock.now(), -OLDEST_MS);
    const question = { tenant, pipeline: deps.pipeline, since, most: FORECAST_ITEMS, page: PAGE };
    try {
      await takeFinished(history, question, item => {
        if (item.role === 'live') older.push(finishedWork(item));
        return true;
      });
    } catch (error) {
      deps.log.warn({ err: error }, 'finished items could not be read for forecasts; retrying later');
      reading = { until: clock.monotonic() + READ_AGAIN_MS, done: Promise.resolve() };
      return;
    }
    const seen = new Set(finished.map(({ uuid }) => uuid));
    keep([...finished, ...older.filter(({ uuid }) => !seen.has(uuid))]);
  }

  function keep(all: readonly FinishedWork[]): void {
    finished = all.slice(0, FORECAST_ITEMS);
    known = undefined;
  }

  async function recent(): Promise<RecentWork> {
    if (reading === undefined || reading.until <= clock.monotonic())
      reading = { until: Number.POSITIVE_INFINITY, done: read() };
    await reading.done;
    known ??= withUsual(recentWork(finished), (project, job) => deps.expected.of({ tenant, project, job }));
    return known;
  }

  return {
    learn(left) {
      const fresh = left.filter(({ role }) => role === 'live').map(finishedWork);
      if (fresh.length > 0) keep([...fresh, ...finished]);
    },
    recent,
    async of(state, pipeline) {
      if (made !== undefined && made.until > clock.monotonic()) return made.all;
      const all = forecastPipeline(pipeline, state, await recent(), clock.now());
      made = { until: clock.monotonic() + HOLDS_MS, all };
      return all;
    },
  };
}

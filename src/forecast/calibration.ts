/**
 * How right forecasts are: what would have been forecast when an item entered, with nothing that was learned later, against when it
 * landed. Pure.
 */
import { millisecondsBetween, toMilliseconds } from '../lib/clock.ts';
import { endOfItem, type QueueItem } from '../model/queue-item.ts';
import { type Forecast, forecastQueues, type QueueWork } from './forecast.ts';
import { queuedWork } from './item-work.ts';
import { type FinishedWork, recentWork } from './recent-work.ts';

/** Finished items that a forecast reads, the newest. */
export const FORECAST_ITEMS = 100;

/** An item that landed, and what was forecast of it. */
export interface Checked {
  /** Undefined: it was too far behind. */
  readonly forecast: Forecast | undefined;
  /** Milliseconds. */
  readonly took: number;
  /** Milliseconds since the epoch. */
  readonly landedAt: number;
}

/** Shares are of items with a forecast. */
export interface Calibration {
  /** Items that landed and had a forecast. */
  readonly items: number;
  /** Landed, without a forecast. */
  readonly unknown: number;
  /** Landed between early and late: 0.8 of them should. */
  readonly inside: number;
  readonly before: number;
  readonly after: number;
  /** Median of the distance between forecast and landing, in milliseconds; null: no items. */
  readonly error: number | null;
  /** The same, of the time from entering to landing. */
  readonly took: number | null;
}

/** Whether it says anything about forecasts. */
export function landedByReport(item: QueueItem): boolean {
  const { phase } = item;
  return (
    item.role === 'live' &&
    phase.phase === 'left' &&
    phase.reason === 'reported' &&
    phase.result === 'SUCCESS'
  );
}

/**
 * @param item has landed.
 * @param others of the pipeline, finished and not, in the order in which they entered. `item` may be one of them.
 * @param finished of the pipeline, the last to leave first; `leftAt` in milliseconds since the epoch.
 */
export function checkForecast(
  item: QueueItem,
  others: readonly QueueItem[],
  finished: readonly { readonly leftAt: number; readonly work: FinishedWork }[],
  rules: Pick<QueueWork, 'kind' | 'window'>,
): Checked {
  const at = item.enqueuedAt;
  const entered = toMilliseconds(at);
  const landed = endOfItem(item) ?? at;
  const queue = others.filter(
    other =>
      other.uuid !== item.uuid &&
      other.queue === item.queue &&
      toMilliseconds(other.enqueuedAt) <= entered &&
      (timeLeft(other) ?? Number.POSITIVE_INFINITY) > entered,
  );
  const before = finished.filter(({ leftAt }) => leftAt < entered).slice(0, FORECAST_ITEMS);
  const items = [...queue, item].map(each => queuedWork(each, at));
  const recent = recentWork(before.map(({ work }) => work));
  const forecasts = forecastQueues([{ ...rules, items }], recent, entered);
  return {
    forecast: forecasts.get(item.uuid),
    took: millisecondsBetween(at, landed),
    landedAt: toMilliseconds(landed),
  };
}

function timeLeft(item: QueueItem): number | null {
  const end = endOfItem(item);
  return end === null ? null : toMilliseconds(end);
}

/** Sums up what was checked. */
export function calibrationOf(checked: readonly Checked[]): Calibration {
  const known = checked.flatMap(({ forecast, ...facts }) =>
    forecast?.kind === 'known' ? [{ ...forecast, ...facts }] : [],
  );
  const share = (is: (one: (typeof known)[number]) => boolean) =>
    known.length === 0 ? 0 : known.filter(is).length / known.length;
  return {
    items: known.length,
    unknown: checked.length - known.length,
    inside: share(({ early, late, landedAt }) => landedAt >= early && landedAt <= late),
    before: share(({ early, landedAt }) => landedAt < early),
    after: share(({ late, landedAt }) => landedAt > late),
    error: median(known.map(({ likely, landedAt }) => Math.abs(landedAt - likely))),
    took: median(known.map(({ took }) => took)),
  };
}

function median(values: readonly number[]): number | null {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? null;
}

/** When items will probably leave: `GET …/pipeline/<p>/forecast`, and the documents `forecast/<pipeline>` of the live stream. */
import type { Calibration } from '../forecast/calibration.ts';
import type { Forecast } from '../forecast/forecast.ts';
import type { Unknown } from '../forecast/queue-plan.ts';
import type { ManagerName, Pipeline } from '../model/pipeline.ts';
import {
  byName,
  type Document,
  document,
  milliseconds,
  nullable,
  number,
  oneOf,
  text,
  whole,
} from './schema.ts';

const expectedSchema = document({
  what: oneOf(
    ['lands', 'result', 'failure'],
    'What it is the time of: it lands, its result is there, it leaves with a failure',
  ),
  early: milliseconds('One in ten is there before'),
  likely: milliseconds(),
  late: milliseconds('One in ten is there after'),
  lands: number('How likely it succeeds, 0 to 1'),
  undisturbed: number('How likely nothing ahead of it makes it begin anew, 0 to 1'),
});

/** Forecast of one item. */
const itemForecastSchema = document({
  place: whole('In its queue, 1 the head'),
  expected: nullable(expectedSchema, 'Null: see `unknown`'),
  unknown: nullable(text('Why there is no time, a clause')),
});
/** Read by the page and the command line. */
export type ItemForecast = Document<typeof itemForecastSchema>;

/** All items of a pipeline that run jobs. */
export const forecastSchema = document({
  pipeline: text(),
  items: byName(itemForecastSchema, 'By uuid of the item'),
});
/** A document of its own, since it changes with every item ahead. */
export type ForecastDocument = Document<typeof forecastSchema>;

/** `GET …/pipeline/<p>/forecast/calibration`. */
export const calibrationSchema = document({
  pipeline: text(),
  since: milliseconds(),
  items: whole('Items that landed, and had a forecast when they entered'),
  unknown: whole('Items that landed, without one'),
  inside: number('Share of those that landed between early and late; 0.8 is right'),
  before: number('Share of those that landed earlier'),
  after: number('Share of those that landed later'),
  error: nullable(milliseconds('Median of the distance between the likely time and the landing')),
  took: nullable(milliseconds('Median of the time from entering to landing')),
});
/** How right forecasts were. */
export type CalibrationDocument = Document<typeof calibrationSchema>;

/** @param now milliseconds since the epoch. */
export function forecastDocument(
  { name, manager }: Pick<Pipeline, 'name' | 'manager'>,
  all: ReadonlyMap<string, Forecast>,
  now: number,
): ForecastDocument {
  const shown = [...all].map(([uuid, forecast]) => [uuid, itemForecast(forecast, manager, now)] as const);
  return { pipeline: name, items: Object.fromEntries(shown) };
}

function itemForecast(forecast: Forecast, manager: ManagerName, now: number): ItemForecast {
  const { place } = forecast;
  if (forecast.kind === 'unknown') return { place, expected: null, unknown: unknownText(forecast.why) };
  const { early, likely, late, lands, undisturbed } = forecast;
  const what = lands === 0 ? 'failure' : manager === 'dependent' ? 'lands' : 'result';
  const step = STEPS.find(each => likely - now < each * 40) ?? 600_000;
  const times = {
    early: Math.floor(early / step) * step,
    likely: Math.round(likely / step) * step,
    late: Math.ceil(late / step) * step,
  };
  return {
    place,
    expected: { what, ...times, lands: round(lands), undisturbed: round(undisturbed) },
    unknown: null,
  };
}

/** Milliseconds: times are no more precise than what they are an estimate of, and change less often so. */
const STEPS = [1000, 5000, 15_000, 60_000, 300_000];

/** To hundredths. */
function round(share: number): number {
  return Math.round(share * 100) / 100;
}

function unknownText(why: Unknown): string {
  switch (why.code) {
    case 'host':
      return 'its code host is failing';
    case 'no-record':
      return why.job === undefined
        ? 'no change of its project was tested here lately'
        : `job ${why.job} has not passed here lately`;
    case 'paused':
      return `its queue is paused: ${why.reason}`;
    case 'ahead':
      return `there is none of item ${why.place}, ahead of it`;
  }
}

/** @param since milliseconds since the epoch. */
export function calibrationDocument(
  pipeline: string,
  since: number,
  calibration: Calibration,
): CalibrationDocument {
  return { pipeline, since, ...calibration };
}

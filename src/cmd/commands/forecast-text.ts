/** When items will probably leave, for people: pure. */
import type { CalibrationDocument, ItemForecast } from '../../api/forecast.ts';
import { durationText } from '../../lib/duration-text.ts';

const WHAT = { lands: 'lands', result: 'has its result', failure: 'leaves with a failure' } as const;

/**
 *     lands in about 4m 10s (2m 20s to 9m 00s); 19 % risk of a reset
 *     no forecast: job unit has not passed here lately
 *
 * @param now milliseconds on the service's clock.
 */
export function forecastText({ expected, unknown }: ItemForecast, now: number): string {
  if (expected === null) return `no forecast: ${unknown}`;
  const { what, early, likely, late, undisturbed } = expected;
  const until = (time: number) => durationText(Math.max(0, time - now));
  if (now > late) return `${WHAT[what]} later than forecast, by ${durationText(now - late)} so far`;
  const risk = what === 'lands' && undisturbed < 0.9 ? `; ${percent(1 - undisturbed)} risk of a reset` : '';
  return `${WHAT[what]} in about ${until(likely)} (${until(early)} to ${until(late)})${risk}`;
}

/**
 *     gate: of 187 items that landed since 2026-11-21 14:02, 81 % landed within their range; 80 % is right
 *
 * @returns lines.
 */
export function calibrationLines(calibration: CalibrationDocument): readonly string[] {
  const { pipeline, since, items, unknown, inside, before, after, error, took } = calibration;
  const from = new Date(since).toISOString().slice(0, 16).replace('T', ' ');
  const without = unknown === 0 ? [] : [`  ${unknown} landed without a forecast: their jobs were new`];
  if (items === 0 || error === null || took === null)
    return [`${pipeline}: nothing landed since ${from} UTC that had a forecast`, ...without];
  const landed = `${items} ${items === 1 ? 'item' : 'items'} landed since ${from} UTC`;
  return [
    `${pipeline}: ${landed}, ${percent(inside)} of them in their range; 80 % is right`,
    `  ${percent(before)} earlier, ${percent(after)} later`,
    `  half of them within ${durationText(error)} of the likely time, of ${durationText(took)} that they took`,
    ...without,
  ];
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

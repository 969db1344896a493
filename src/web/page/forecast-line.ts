/** When an item will probably leave, in one line: its place, the likely time and the range that holds for eight of ten. */
import type { ItemForecast } from '../../api/forecast.ts';
import { element } from './dom.ts';
import { percent, timesOfDay } from './format.ts';

/** Verbs for what the times are of. */
const WHAT = { lands: 'lands', result: 'result', failure: 'leaves, failed,' } as const;

/** @param uuid of the item. @param now the server's time in milliseconds. */
export function forecastLine(uuid: string, forecast: ItemForecast | undefined, now: number): HTMLElement {
  const line = { class: 'forecast', 'data-forecast': uuid };
  if (forecast === undefined) return element('p', { ...line, hidden: true });
  const { place, expected, unknown } = forecast;
  const where = element('span', {}, `place ${place}`);
  if (expected === null) return element('p', line, where, element('span', {}, `no forecast: ${unknown}`));
  const { what, early, likely, late, lands, undisturbed } = expected;
  const [from, about, to] = timesOfDay([early, likely, late], now);
  const range = `${from} – ${to}`;
  const title = [
    'Of ten such items one is there before, and one after, this range.',
    `Chance to succeed: ${percent(lands)}; to do so without a reset: ${percent(undisturbed)}.`,
  ].join(' ');
  return element(
    'p',
    { ...line, title },
    where,
    now > late
      ? element('span', {}, `${WHAT[what]} later than forecast (${range})`)
      : element('span', {}, `${WHAT[what]} about `, element('b', {}, about), ` (${range})`),
    undisturbed < 0.9 &&
      what === 'lands' &&
      element('span', {}, `${percent(1 - undisturbed)} risk of a reset`),
  );
}

/** Who stole most time, what cost most and which jobs are flaky, for people at a terminal: part of {@link import('./delays-text.ts').delaysLines}. */
import type { Paint } from '../lib/ansi.ts';
import type { Nanoseconds } from '../lib/clock.ts';
import { durationText } from '../lib/duration-text.ts';
import { printable, toWidth } from '../lib/text-width.ts';
import { isBefore } from '../lib/time-window.ts';
import type { Delays } from './delays.ts';

interface Drawing {
  readonly width: number;
  readonly paint: Paint;
}

const SHOWN = 5;

/** Culprits by how much earlier others would have landed without each; empty: none delayed a landing. */
export function worstLines({ resets }: Delays, { width, paint }: Drawing): readonly string[] {
  const stealing = resets.worst.filter(({ delayed }) => delayed > 0);
  if (stealing.length === 0) return [];
  const room = width - 31;
  return [
    `${paint('Worst culprits', 'bold')} ${paint('without each, others would have landed earlier', 'dim')}`,
    paint(
      `  ${toWidth('change', room)} ${toWidth('items', 7, 'right')} ${toWidth('by', 8, 'right')}  e.g.`,
      'dim',
    ),
    ...stealing.slice(0, SHOWN).map(({ change, job, delayed, stolen, item }) => {
      const who = toWidth(printable(job === null ? change : `${change}: ${job}`), room);
      const time = paint(toWidth(textOf(stolen), 8, 'right'), 'yellow');
      return `  ${who} ${toWidth(String(delayed), 7, 'right')} ${time}  ${paint(item.slice(0, 8), 'dim')}`;
    }),
  ];
}

/** The costliest resets, in the order of time. */
export function costliestResets({ resets }: Delays, { width, paint }: Drawing): readonly string[] {
  const costliest = resets.list
    .toSorted((a, b) => (isBefore(b.lostBuildTime, a.lostBuildTime) ? -1 : 1))
    .slice(0, SHOWN);
  const shown = resets.list.filter(each => costliest.includes(each));
  return [
    paint('  costliest, in UTC', 'dim'),
    ...shown.map(({ at, change, culprit, code, lostBuildTime }) => {
      const time = new Date(Number(BigInt(at) / 1_000_000n)).toISOString().slice(11, 16);
      const who =
        culprit === null
          ? code
          : culprit.job === null
            ? culprit.change
            : `${culprit.job} of ${culprit.change}`;
      const half = Math.floor((width - 22) / 2);
      const [from, to] = [who, change].map(text => toWidth(printable(text), half));
      const lost = paint(toWidth(textOf(lostBuildTime), 8, 'right'), 'yellow');
      return `  ${paint(time, 'dim')} ${from} → ${to} ${lost}`;
    }),
  ];
}

/** Empty: none was seen. */
export function flakyLines({ flaky }: Delays, { width, paint }: Drawing): readonly string[] {
  if (flaky.length === 0) return [];
  const room = width - 37;
  return [
    `${paint('Flaky jobs', 'bold')} ${paint('failed, and passed in the same tested state', 'dim')}`,
    paint(
      `  ${toWidth('job', room)} ${toWidth('failed', 7, 'right')} ${toWidth('items', 7, 'right')}  in vain  e.g.`,
      'dim',
    ),
    ...flaky.slice(0, SHOWN).map(({ job, builds, items, buildTime, item }) => {
      const counts = [builds, items].map(count => toWidth(String(count), 7, 'right')).join(' ');
      const time = toWidth(textOf(buildTime), 8, 'right');
      return `  ${toWidth(printable(job), room)} ${counts} ${paint(time, 'yellow')}  ${paint(item.slice(0, 8), 'dim')}`;
    }),
  ];
}

function textOf(duration: Nanoseconds): string {
  return durationText(Number(duration) / 1e6);
}

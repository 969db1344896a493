/** {@link Delays} for people at a terminal: what happened, where the time went, the culprits of resets, the slowest items. */

import { type Colour, type Paint, painter } from '../lib/ansi.ts';
import type { Nanoseconds } from '../lib/clock.ts';
import { durationText } from '../lib/duration-text.ts';
import { printable, toWidth } from '../lib/text-width.ts';
import { between } from '../lib/time-window.ts';
import { ITEM_STATES, rowOfState } from '../model/item-states.ts';
import { isFailure } from '../tracing/status.ts';
import type { Blamed } from './delay-culprits.ts';
import type { LoadPoint } from './delay-load.ts';
import type { Delays, SlowItem, StateDelays } from './delays.ts';
import { costliestResets, flakyLines, worstLines } from './night-text.ts';

/** From the terminal and the command's arguments; a width below 60 counts as 60. */
export interface DelaysTextOptions {
  /** Columns, at least 60. */
  readonly width: number;
  readonly colour: boolean;
  /** Title, e.g. `gate of main`. */
  readonly title: string;
}

/** Coloured lines may be longer than the width: cutting inside a colour sequence would leave it open. */
export function delaysLines(delays: Delays, { width, colour, title }: DelaysTextOptions): readonly string[] {
  const paint = painter(colour);
  const drawing = { width: Math.max(60, width), paint };
  const sections = [
    headLines(delays, title, paint),
    delays.items === 0 ? [] : loadLines(delays, drawing),
    delays.items === 0 ? [] : stateLines(delays, drawing),
    worstLines(delays, drawing),
    delays.resets.count === 0 ? [] : [...resetLines(delays, drawing), ...costliestResets(delays, drawing)],
    flakyLines(delays, drawing),
    delays.items === 0 ? [] : slowLines(delays, drawing),
  ];
  return sections
    .filter(lines => lines.length > 0)
    .flatMap((lines, index) => (index === 0 ? lines : ['', ...lines]))
    .map(line => (colour ? line : toWidth(line, drawing.width).trimEnd()));
}

interface Drawing {
  readonly width: number;
  readonly paint: Paint;
}

function headLines(delays: Delays, title: string, paint: Paint): readonly string[] {
  const period = text(between(delays.since, delays.until));
  const head = `${paint(printable(title), 'bold')}  the last ${period}`;
  if (delays.items === 0) return [head, paint('  no item was there in that time', 'dim')];
  const results = delays.results.map(({ result, items }) => `${items} ${paint(result, ...colourOf(result))}`);
  const bold = (duration: Nanoseconds) => paint(text(duration), 'bold');
  const rate = `${rateText(delays.succeededPerHour)} succeeded per hour`;
  return [
    head,
    `  ${delays.left} left${results.length === 0 ? '' : `: ${results.join(', ')}`}`,
    `  ${rate}; ${delays.queued} in the queue`,
    ...(delays.took === null
      ? []
      : [
          `  half took up to ${bold(delays.took.p50)}, 95% up to ${bold(delays.took.p95)}, the longest ${text(delays.took.longest)}`,
        ]),
    ...(delays.truncated
      ? [
          paint(
            `  ! too many: only items that left in the last ${text(between(delays.covered, delays.until))} are counted`,
            'yellow',
          ),
        ]
      : []),
  ];
}

const LOADS = [
  { word: 'in the queue', colour: 'bold', count: (point: LoadPoint) => allOf(point) },
  { word: 'being tested', colour: 'blue', count: (point: LoadPoint) => point.states.running ?? 0 },
  { word: ITEM_STATES.window.word, colour: 'yellow', count: (point: LoadPoint) => point.states.window ?? 0 },
] as const;

/** Eighths of a line's height. */
const HEIGHTS = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/** Load over time, one line per kind, all to the scale of the first. */
function loadLines({ load }: Delays, { width, paint }: Drawing): readonly string[] {
  const most = Math.max(...load.map(allOf));
  if (!(most > 0)) return [];
  const columns = Math.min(load.length, width - 34);
  return [
    paint('Items over time', 'bold'),
    ...LOADS.map(({ word, colour, count }) => {
      const counts = load.slice(load.length - columns).map(count);
      const bars = counts.map(
        items => HEIGHTS[items === 0 ? 0 : Math.max(1, Math.round((items / most) * 8))],
      );
      const peak = `at most ${rateText(Math.max(...counts))}`;
      return `  ${toWidth(word, 15)} ${paint(bars.join(''), colour)} ${paint(peak, 'dim')}`;
    }),
  ];
}

function allOf({ states }: LoadPoint): number {
  return Object.values(states).reduce((sum, items) => sum + items, 0);
}

const TIME_WIDTH = 8;

function stateLines({ states }: Delays, { width, paint }: Drawing): readonly string[] {
  const room = Math.min(40, width - 56);
  const cells = (times: readonly string[]) => times.map(time => toWidth(time, TIME_WIDTH, 'right')).join(' ');
  const head = `  ${toWidth('', 16)} ${toWidth('', room)} ${cells(['share', 'per item', 'p50', 'p95'])}`;
  const most = Math.max(...states.map(({ share }) => share));
  const line = (total: StateDelays) => {
    const { state, kind, share, perItem, p50, p95 } = total;
    const bar = '█'.repeat(Math.max(1, Math.round((share / most) * room)));
    const painted = kind === 'wait' ? paint(bar.replaceAll('█', '░'), 'yellow') : paint(bar, 'blue');
    const times = cells([percentText(share), text(perItem), text(p50), text(p95)]);
    return `  ${toWidth(rowOfState(state).word, 16)} ${painted}${' '.repeat(room - bar.length)} ${times}`;
  };
  return [paint('Where the time went', 'bold'), paint(head, 'dim'), ...states.map(line)];
}

/** Rows of each list of culprits. */
const SHOWN = 5;

function resetLines({ resets }: Delays, drawing: Drawing): readonly string[] {
  const { paint } = drawing;
  const times = resets.count === 1 ? 'once' : `${resets.count} times`;
  const lost = `${text(resets.lostBuildTime)} of build time lost, ${percentText(resets.lostShare)} of all`;
  return [
    `${paint('Tested again', 'bold')} ${times}, ${resets.items} of the items: ${paint(lost, 'yellow')}`,
    ...culpritLines('by job', resets.byJob, row => row.job, drawing),
    ...culpritLines(
      'by change',
      resets.byChange,
      row => (row.job === null ? row.change : `${row.change}: ${row.job}`),
      drawing,
    ),
    ...culpritLines('by project', resets.byProject, row => row.project, drawing),
    ...culpritLines('by reason', resets.byCause, row => row.code, drawing),
  ];
}

function culpritLines<Row extends Blamed>(
  title: string,
  rows: readonly Row[],
  nameOf: (row: Row) => string,
  { width, paint }: Drawing,
): readonly string[] {
  const room = width - 31;
  const more = rows.length > SHOWN ? [paint(`  … ${rows.length - SHOWN} more`, 'dim')] : [];
  if (rows.length === 0) return [];
  return [
    paint(
      `  ${toWidth(title, room)} ${toWidth('resets', 7, 'right')} ${toWidth('items', 7, 'right')}     lost`,
      'dim',
    ),
    ...rows.slice(0, SHOWN).map(row => {
      const counts = [row.resets, row.items].map(count => toWidth(String(count), 7, 'right')).join(' ');
      const lost = toWidth(text(row.lostBuildTime), 8, 'right');
      return `  ${toWidth(printable(nameOf(row)), room)} ${counts} ${paint(lost, 'yellow')}`;
    }),
    ...more,
  ];
}

function slowLines({ slowest }: Delays, { width, paint }: Drawing): readonly string[] {
  const room = Math.max(12, width - 52);
  const line = ({ item, changes, duration, result, resets, mostly }: SlowItem) => {
    const most = mostly === null ? '' : `${rowOfState(mostly.state).word} ${text(mostly.duration)}`;
    const again = resets === 0 ? '' : `↺${resets}`;
    return [
      ` ${toWidth(text(duration), 8, 'right')}`,
      paint(markOf(result), ...colourOf(result)),
      toWidth(printable(changes.join(', ')), room),
      paint(toWidth(again, 4), 'yellow'),
      toWidth(most, 24),
      paint(item.slice(0, 8), 'dim'),
    ].join(' ');
  };
  const title = paint('Slowest items ', 'bold');
  const legend = paint('✓ succeeded  ✗ failed  – dequeued  ● in the queue', 'dim');
  return [`${title} ${legend}`, ...slowest.map(line)];
}

function markOf(result: string | null): string {
  if (result === null) return '●';
  if (isFailure(result)) return '✗';
  return result === 'SUCCESS' ? '✓' : '–';
}

function colourOf(result: string | null): readonly Colour[] {
  if (result === null) return ['cyan'];
  if (isFailure(result)) return ['red'];
  return result === 'SUCCESS' ? ['green'] : ['yellow'];
}

function percentText(share: number): string {
  return share > 0 && share < 0.01 ? '<1%' : `${Math.round(share * 100)}%`;
}

function rateText(rate: number): string {
  if (rate > 0 && rate < 0.1) return '<0.1';
  return rate >= 10 ? String(Math.round(rate)) : String(Math.round(rate * 10) / 10);
}

function text(duration: Nanoseconds): string {
  return durationText(Number(duration) / 1e6);
}

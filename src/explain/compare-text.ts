/** A {@link Comparison} for people at a terminal. */
import { type Paint, painter } from '../lib/ansi.ts';
import { durationText } from '../lib/duration-text.ts';
import { printable, toWidth } from '../lib/text-width.ts';
import { rowOfState } from '../model/item-states.ts';
import type { ComparedItem, ComparedPhase, Comparison } from './compare-items.ts';

interface Drawing {
  readonly width: number;
  readonly paint: Paint;
}

/** Of the four columns of times and the mark. */
const TIMES = 45;

/** Those of the table fit `width`; the names of the items are as long as they are. @param options of the terminal; a width below 70 counts as 70. */
export function compareLines(
  comparison: Comparison,
  options: { readonly width: number; readonly colour: boolean },
): readonly string[] {
  const drawing = { width: Math.max(70, options.width), paint: painter(options.colour) };
  const { paint } = drawing;
  const { item, other, phases } = comparison;
  const states = phases.filter(({ level }) => level === 'state');
  const jobs = phases.filter(({ level }) => level !== 'state');
  return [
    ...headLines(item, other, paint),
    '',
    header('Where the time went', drawing),
    ...states.map(phase => line(phase, drawing)),
    ...(jobs.length === 0 ? [] : ['', header('Jobs of the last round', drawing)]),
    ...jobs.map(phase => line(phase, drawing)),
    '',
    paint(usualText(comparison), 'dim'),
  ];
}

function headLines(item: ComparedItem, other: ComparedItem | null, paint: Paint): readonly string[] {
  if (other === null)
    return [
      itemLine('this', item, paint),
      paint('other no item of its project and branch has passed there lately', 'dim'),
    ];
  return [itemLine('this', item, paint), itemLine('other', other, paint)];
}

function itemLine(name: string, { item, changes, ms, result, resets }: ComparedItem, paint: Paint): string {
  const again = resets === 0 ? '' : paint(`, tested again ${resets}×`, 'yellow');
  const how = `${result ?? 'still there'} after ${durationText(ms)}`;
  return `${paint(name.padEnd(5), 'dim')} ${paint(printable(changes.join(', ')), 'bold')}: ${how}${again} ${paint(item.slice(0, 8), 'dim')}`;
}

function header(title: string, { width, paint }: Drawing): string {
  return `${paint(toWidth(title, width - TIMES), 'bold')}${paint(columns('this', 'other', 'usual', 'at most'), 'dim')}`;
}

const INDENT = { state: '  ', job: '  ', part: '    ', task: '      ' } as const;

function line(phase: ComparedPhase, { width, paint }: Drawing): string {
  const { level, ms, other, usual, slower } = phase;
  const name = toWidth(`${INDENT[level]}${printable(phaseText(phase))}`, width - TIMES);
  const [p50, p95] = usual === null ? ['–', '–'] : [durationText(usual.p50), durationText(usual.p95)];
  const times = columns(durationText(ms), other === null ? '–' : durationText(other), p50, p95);
  const mark = slower ? paint('  slower', 'yellow') : '';
  return `${level === 'job' ? paint(name, 'bold') : name}${times}${mark}`;
}

export function phaseText(phase: ComparedPhase): string {
  switch (phase.level) {
    case 'state':
      return rowOfState(phase.state).word;
    case 'job':
      return phase.job;
    case 'part':
    case 'task':
      return phase.name;
  }
}

function columns(...cells: readonly string[]): string {
  return cells.map(cell => toWidth(cell, 9, 'right')).join('');
}

function usualText({ phases, usualOf }: Comparison): string {
  return phases.some(({ usual }) => usual !== null)
    ? `usual, at most: half and 19 of 20 of the last ${usualOf} that passed`
    : 'Too few items have passed there to say what is usual.';
}

/** One bar of a waterfall: drawn to an eighth of a column, never invisible. */

import type { Colour, Paint } from '../lib/ansi.ts';
import type { Nanoseconds } from '../lib/clock.ts';
import type { SpanRecord } from '../model/span.ts';

/** The time that a row of the picture covers, from the left edge to the right. */
export interface Scale {
  readonly start: Nanoseconds;
  readonly end: Nanoseconds;
  /** Width of the bar's column of the picture, in characters. */
  readonly columns: number;
}

/** How a bar is drawn apart from its place: waits are shaded, results have colours. */
export interface BarLook {
  /** Waiting: shaded instead of solid. */
  readonly shade: boolean;
  readonly colours: readonly Colour[];
}

/** Left-aligned blocks of one to eight eighths. */
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

/** Exactly `scale.columns` wide. */
export function barText(span: SpanRecord, scale: Scale, look: BarLook, paint: Paint): string {
  const total = Math.max(1, Number(BigInt(scale.end) - BigInt(scale.start)));
  const place = (time: Nanoseconds) => (Number(BigInt(time) - BigInt(scale.start)) / total) * scale.columns;
  const from = Math.min(place(span.start), scale.columns - 0.125);
  const to = Math.min(Math.max(place(span.end ?? scale.end), from), scale.columns);
  const first = Math.floor(from);
  const cells = look.shade
    ? '░'.repeat(Math.max(1, Math.round(to) - first))
    : solid(from - first, to - first);
  const room = scale.columns - first;
  const bar = span.end === null ? `${cells.slice(0, Math.max(0, room - 1))}▶` : cells.slice(0, room);
  return `${' '.repeat(first)}${paint(bar, ...look.colours)}${' '.repeat(room - bar.length)}`;
}

/** From within the first column (0 to 1) to `to`; the left end has a precision of half a column, the right one of an eighth. */
function solid(from: number, to: number): string {
  if (to - from < 0.5 && to <= 1) return from < 0.5 ? '▏' : '▕';
  const head = from < 0.5 ? '' : '▐';
  const eighths = Math.max(head === '' ? 1 : 0, Math.round((to - head.length) * 8));
  return `${head}${'█'.repeat(Math.floor(eighths / 8))}${EIGHTHS[eighths % 8] ?? ''}`;
}

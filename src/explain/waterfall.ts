/**
 * A trace as a picture for terminals.
 *
 *     QueueItem gate acme/app master/login,3f2a91c0   ━━━━━━━━━━━━━━━━━━━━━━━━━━   3m 28s  SUCCESS
 *     ├ Wait window                                   ░░                          12.1s
 *     ├ BuildSet 1                                     ━━━━━                       38s   SUPERSEDED
 *     │   ↺ an item ahead failed: unit-tests of acme/app master/broken,deadbeef ended with FAILURE
 *     │ └ Build unit-tests                              ━━━━▶                      37s
 *
 * Waits are shaded, failures red, stopped or repeated work yellow; an open span ends in an arrow at the present.
 */

import { type Colour, type Paint, painter } from '../lib/ansi.ts';
import type { Nanoseconds } from '../lib/clock.ts';
import { durationText } from '../lib/duration-text.ts';
import { printable, toWidth, widthOf } from '../lib/text-width.ts';
import { isBefore, latest } from '../lib/time-window.ts';
import type { SpanRecord } from '../model/span.ts';
import { ATTRIBUTE } from '../tracing/attributes.ts';
import { orderSpans, type TraceRow } from '../tracing/spans/order-spans.ts';
import { barText, type Scale } from './waterfall-bar.ts';

/** From the terminal and the command's arguments; a width below 60 counts as 60. */
export interface WaterfallOptions {
  /** Columns, at least 60. */
  readonly width: number;
  readonly colour: boolean;
  /** End of open spans. */
  readonly now: Nanoseconds;
  /** Spans deeper than this are left out. Default: all. */
  readonly maxDepth?: number;
}

const DURATION_WIDTH = 7;
const NARROWEST = 60;

/** The picture, without a last line break; empty for no spans. */
export function waterfall(spans: readonly SpanRecord[], options: WaterfallOptions): string {
  const rows = orderSpans(spans).filter(row => row.depth <= (options.maxDepth ?? Number.POSITIVE_INFINITY));
  const first = rows[0];
  if (first === undefined) return '';
  const paint = painter(options.colour);
  const layout = layoutOf(rows, options);
  const lines = [axisLine(layout, paint)];
  const rails: string[] = [];
  for (const row of rows) {
    rails.length = row.depth;
    lines.push(...rowLines(row, rails, layout, paint));
    rails[row.depth] = row.depth === 0 ? '' : row.last ? '  ' : '│ ';
  }
  return lines.map(line => line.trimEnd()).join('\n');
}

interface Layout {
  readonly width: number;
  readonly nameWidth: number;
  readonly resultWidth: number;
  readonly scale: Scale;
}

function layoutOf(rows: readonly TraceRow[], options: WaterfallOptions): Layout {
  const width = Math.max(NARROWEST, options.width);
  const widest = Math.max(...rows.map(row => row.depth * 2 + widthOf(titleOf(row.span))));
  const nameWidth = Math.min(widest, Math.floor(width * 0.42));
  const resultWidth = width < 110 ? 13 : width < 140 ? 22 : 34;
  const bars = Math.max(12, width - nameWidth - DURATION_WIDTH - resultWidth - 4);
  let start = rows[0]?.span.start ?? options.now;
  let end = start;
  for (const { span } of rows) {
    if (isBefore(span.start, start)) start = span.start;
    end = latest(end, span.end ?? options.now);
  }
  return { width, nameWidth, resultWidth, scale: { start, end, columns: bars } };
}

/** Start, middle and end of the time shown, over the bars. */
function axisLine({ nameWidth, scale }: Layout, paint: Paint): string {
  const total = Number(BigInt(scale.end) - BigInt(scale.start)) / 1e6;
  const marks = scale.columns >= 48 ? 4 : 2;
  let line = '';
  for (let mark = 0; mark <= marks; mark++) {
    const label = mark === 0 ? '0' : durationText((total * mark) / marks);
    const column = Math.round((scale.columns * mark) / marks);
    const at =
      mark === 0 ? 0 : mark === marks ? column - label.length : column - Math.floor(label.length / 2);
    if (at < line.length + (mark === 0 ? 0 : 1)) continue;
    line = line.padEnd(at) + label;
  }
  return `${' '.repeat(nameWidth + 1)}${paint(line, 'dim')}`;
}

function rowLines(row: TraceRow, rails: readonly string[], layout: Layout, paint: Paint): readonly string[] {
  const { span } = row;
  const look = lookOf(span);
  const rail = rails.slice(1).join('');
  const branch = row.depth === 0 ? '' : row.last ? '└ ' : '├ ';
  const name = toWidth(titleOf(span), Math.max(8, layout.nameWidth - rail.length - branch.length));
  const line = [
    paint(rail + branch, 'dim') + paint(name, ...look.name),
    barText(span, layout.scale, look.bar, paint),
    toWidth(lengthOf(span, layout), DURATION_WIDTH, 'right'),
    paint(toWidth(wordOf(span), layout.resultWidth), ...look.word),
  ].join(' ');
  const cause = causeOf(span);
  if (cause === undefined) return [line];
  const indent = `${rail}${row.depth === 0 ? '' : row.last ? '  ' : '│ '}`;
  return [line, ...causeLines(cause, indent, layout.width, paint)];
}

function causeLines(cause: string, indent: string, width: number, paint: Paint): readonly string[] {
  const text = toWidth(`↺ ${printable(cause)}`, Math.max(20, width - indent.length - 2)).trimEnd();
  return [`${paint(indent, 'dim')}  ${paint(text, 'yellow')}`];
}

/** Names of spans do not contain changes, so the picture adds the change to the root. */
function titleOf({ name, attributes }: SpanRecord): string {
  const change = attributes[ATTRIBUTE.spanType] === 'QueueItem' ? attributes[ATTRIBUTE.change] : undefined;
  return printable(change === undefined ? name : `${name} ${[change].flat().join(', ')}`);
}

/** Why a buildset replaced the previous one. */
function causeOf(span: SpanRecord): string | undefined {
  const text = span.attributes[ATTRIBUTE.causeText];
  return span.attributes[ATTRIBUTE.spanType] === 'BuildSet' && typeof text === 'string'
    ? `tested again: ${text}`
    : undefined;
}

function lengthOf(span: SpanRecord, { scale }: Layout): string {
  return durationText(Number(BigInt(span.end ?? scale.end) - BigInt(span.start)) / 1e6);
}

/** The last column: the result, unless the bar shows it. */
function wordOf(span: SpanRecord): string {
  if (span.end === null) return 'open';
  const result = span.attributes[ATTRIBUTE.result];
  const subject = span.attributes[ATTRIBUTE.waitSubject];
  if (typeof result === 'string') return result === 'SUCCESS' && span.parent !== null ? '✓' : result;
  return typeof subject === 'string' ? printable(subject) : '';
}

interface Look {
  readonly name: readonly Colour[];
  readonly bar: { readonly shade: boolean; readonly colours: readonly Colour[] };
  readonly word: readonly Colour[];
}

/** Kinds of spans without work. */
const WAITING: ReadonlySet<string> = new Set([
  'Wait',
  'Takeover',
  'RequirementWait',
  'SemaphoreWait',
  'RequestNodes',
  'ExecutorQueue',
  'Pause',
  'EventQueued',
]);

function lookOf(span: SpanRecord): Look {
  const kind = span.attributes[ATTRIBUTE.spanType];
  const result = span.attributes[ATTRIBUTE.result];
  const name: readonly Colour[] = span.parent === null ? ['bold'] : [];
  const shade = WAITING.has(String(kind));
  if (shade) return { name: ['dim'], bar: { shade, colours: ['dim'] }, word: ['dim'] };
  if (span.status.code === 'error') return { name, bar: { shade, colours: ['red'] }, word: ['red'] };
  if (result === 'SUPERSEDED' || result === 'CANCELED' || result === 'DEQUEUED') {
    return { name, bar: { shade, colours: ['yellow'] }, word: ['yellow'] };
  }
  if (span.end === null) return { name, bar: { shade, colours: ['cyan'] }, word: ['cyan'] };
  const good: readonly Colour[] = result === 'SUCCESS' ? ['green'] : ['blue'];
  return { name, bar: { shade, colours: good }, word: good };
}

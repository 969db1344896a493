/** Notes below an item's line: jobs, failures, the current wait, resets. */

import type { LiveItem } from '../../api/live-item.ts';
import type { Paint } from '../../lib/ansi.ts';
import { durationText } from '../../lib/duration-text.ts';
import { printable } from '../../lib/text-width.ts';
import { rowOfState } from '../../model/item-states.ts';
import { wrapPieces, wrapWords } from '../terminal/wrap-text.ts';
import { jobText } from './job-text.ts';

/** Where the notes are drawn. `indent` begins each line and counts to the width. */
export interface NotesOptions {
  readonly width: number;
  readonly paint: Paint;
  /** Milliseconds on the service's clock. */
  readonly now: number;
  readonly indent: string;
}

/** Newest resets shown one by one. */
const RESETS_SHOWN = 3;

/** Also for an item that has left, without its waits then. Of the resets the newest three are shown and the others counted. */
export function itemNotes(item: LiveItem, options: NotesOptions): readonly string[] {
  const { width, paint, now, indent } = options;
  const jobs = item.jobs.map(job => jobText(job, now, paint));
  return [
    ...wrapPieces(jobs, indent, '   ', width),
    ...failingLines(item, options),
    ...waitLines(item, options),
    ...resetLines(item, options),
  ];
}

function failingLines(
  { failing, left }: LiveItem,
  { width, paint, indent }: NotesOptions,
): readonly string[] {
  if (failing.length === 0) return [];
  const text = `${left === null ? 'will not merge' : 'failed'}: ${failing.join('; ')}`;
  return wrapWords(text, `${indent}✗ `, width).map(line => paint(line, 'red'));
}

function waitLines(
  { state, left, hostWait }: LiveItem,
  { width, paint, now, indent }: NotesOptions,
): readonly string[] {
  if (hostWait !== null && left === null) {
    const since = durationText(Math.max(0, now - hostWait.since));
    const tries = hostWait.tries === 1 ? 'one try' : `${hostWait.tries} tries`;
    const text = `the code host of ${hostWait.project} has been failing for ${since}, ${tries}: ${hostWait.text}`;
    return wrapWords(printable(text), `${indent}! `, width).map(line => paint(line, 'red'));
  }
  if (state.subject === null || left !== null) return [];
  return wrapWords(printable(rowOfState(state.name).now(state.subject)), `${indent}… `, width).map(line =>
    paint(line, 'dim'),
  );
}

function resetLines(
  { resets, enqueuedAt, left }: LiveItem,
  { width, paint, now, indent }: NotesOptions,
): readonly string[] {
  const shown = resets.slice(-RESETS_SHOWN);
  const earlier = resets.length - shown.length;
  const lines = shown.flatMap(reset => {
    const lost = reset.lostMs > 0 ? `; ${durationText(reset.lostMs)} of build time lost` : '';
    const when =
      left === null
        ? `${durationText(Math.max(0, now - reset.at))} ago`
        : `after ${durationText(reset.at - enqueuedAt)}`;
    const text = `tested again ${when}: ${printable(reset.text)}${lost}`;
    return wrapWords(text, `${indent}↺ `, width).map(line => paint(line, 'yellow'));
  });
  return earlier === 0
    ? lines
    : [paint(`${indent}↺ tested again ${earlier} more times earlier`, 'yellow'), ...lines];
}

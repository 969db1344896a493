/** The table at the end of the demo. Pure text. */

import { painter } from '../../lib/ansi.ts';
import { millisecondsBetween, parseNanoseconds } from '../../lib/clock.ts';
import { durationText } from '../../lib/duration-text.ts';
import { toWidth } from '../../lib/text-width.ts';
import { wrapWords } from '../terminal/wrap-text.ts';
import type { ChangeOutcome } from './outcome.ts';

/** Word for a result, e.g. `merged`. */
export function outcomeWord(result: string): string {
  return WORDS[result] ?? result;
}

const WORDS: { readonly [result: string]: string } = {
  SUCCESS: 'merged',
  FAILURE: 'failed',
  MERGE_CONFLICT: 'conflict',
};

/** A row per change in their order, and below it a line for each reset, wrapped to the width. */
export function summaryTable(
  outcomes: readonly ChangeOutcome[],
  options: { readonly width: number; readonly colour: boolean },
): readonly string[] {
  const paint = painter(options.colour);
  const header = `  ${toWidth('change', 32)} ${toWidth('result', 9)} ${toWidth('resets', 6, 'right')} ${toWidth('waiting', 8, 'right')} ${toWidth('running', 8, 'right')} ${toWidth('total', 8, 'right')}`;
  return [paint(header, 'bold'), ...outcomes.flatMap(outcome => rowLines(outcome, options.width, paint))];
}

function rowLines(
  outcome: ChangeOutcome,
  width: number,
  paint: ReturnType<typeof painter>,
): readonly string[] {
  const word = outcomeWord(outcome.result);
  const total = millisecondsBetween(
    parseNanoseconds(outcome.enqueued_ns),
    parseNanoseconds(outcome.dequeued_ns),
  );
  const times = [outcome.waiting_ms, outcome.running_ms, total]
    .map(ms => toWidth(durationText(ms), 8, 'right'))
    .join(' ');
  const name = toWidth(`${outcome.project} ${outcome.change}`, 32);
  const result = paint(toWidth(word, 9), outcome.result === 'SUCCESS' ? 'green' : 'red');
  const resets = toWidth(String(outcome.resets.length), 6, 'right');
  return [
    `  ${name} ${result} ${resets} ${times}`,
    ...outcome.resets.flatMap(reset =>
      wrapWords(`tested again: ${reset.text}`, '    ', width).map(line => paint(line, 'yellow')),
    ),
  ];
}

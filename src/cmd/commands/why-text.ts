/**
 * The decisions about a change as text: pure.
 *
 *     acme/app master/login,3f2a91c0  Greet the customer
 *
 *     in gate for 42s: running for 39s                                          gatehouse trace 5b1c09aa
 *         ✓ unit-tests 3.1s   ● integration-tests 12s of ~30s
 *
 *     12:01:38  approved
 *       + gate   event approved
 *                  entered queue integrated: event approved
 *           +12s   tested again: an item ahead failed: unit-tests of ... ended with FAILURE
 *       - check  event approved is not proposed
 */

import type { LiveItem } from '../../api/live-item.ts';
import { type Colour, type Paint, painter } from '../../lib/ansi.ts';
import { fromMilliseconds, millisecondsBetween } from '../../lib/clock.ts';
import { durationText } from '../../lib/duration-text.ts';
import { padded, printable, toWidth, widthOf } from '../../lib/text-width.ts';
import type { Decision, DecisionCode } from '../../model/decision.ts';
import type { TerminalStyle } from '../terminal/style.ts';
import { wrapWords } from '../terminal/wrap-text.ts';
import { type EventGroup, eventGroups, type PipelineLine } from './decision-groups.ts';
import { itemNotes } from './item-notes.ts';
import { itemState } from './item-state.ts';

/** The answers of the API about one change, as `why.ts` asked for them. */
export interface Why {
  readonly project: string;
  readonly change: string;
  /** Oldest first, as the API has them. */
  readonly decisions: readonly Decision[];
  /** Its live item, else its last one; undefined: it was in no pipeline. */
  readonly item: LiveItem | undefined;
}

/** Durations count up to `now`; a time of day more than a day before it has a date. */
export interface WhyOptions extends TerminalStyle {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** For times of day; default: this machine's. */
  readonly timeZone?: string;
}

interface Drawing extends WhyOptions {
  readonly paint: Paint;
  readonly pipelineWidth: number;
}

/** The item first, then the events, newest first; reasons are wrapped to the width. */
export function whyLines({ project, change, decisions, item }: Why, options: WhyOptions): readonly string[] {
  const paint = painter(options.colour);
  const groups = eventGroups(decisions);
  const pipelineWidth = Math.max(
    4,
    ...groups.flatMap(group => group.lines.map(line => line.pipeline.length)),
  );
  const drawing: Drawing = { ...options, paint, pipelineWidth };
  const shown = item?.changes.find(({ name }) => name === change) ?? item?.changes[0];
  const name = shown?.text ?? decisions.at(-1)?.changeText ?? `${project} ${change}`;
  const subject = shown?.subject ?? null;
  const head = `${paint(printable(name), 'bold')}${subject === null ? '' : `  ${paint(printable(subject), 'dim')}`}`;
  const several = new Set(decisions.map(({ changeText }) => changeText)).size > 1;
  return [
    head,
    '',
    ...(item === undefined
      ? [paint('It has never been in a pipeline.', 'yellow')]
      : itemLines(item, drawing)),
    ...groups.flatMap(group => ['', ...groupLines(group, several, drawing)]),
  ];
}

function itemLines(item: LiveItem, drawing: Drawing): readonly string[] {
  const { paint, width, now } = drawing;
  const { mark, word, colour } = itemState(item);
  const id = item.uuid.slice(0, 8);
  const { left } = item;
  const ago = (at: number) => durationText(Math.max(0, now - at));
  const place =
    left === null
      ? `${paint(mark, ...colour)} in ${paint(item.pipeline, 'bold')} for ${ago(item.enqueuedAt)}: ${paint(`${word} for ${ago(item.state.since)}`, ...colour)}`
      : `${fate(left.result, paint)} left ${paint(item.pipeline, 'bold')} ${ago(left.at)} ago after ${durationText(left.at - item.enqueuedAt)}: ${paint(left.result, resultColour(left.result))}${left.reason === 'reported' ? '' : `, ${left.text}`}`;
  const more = `gatehouse ${left === null ? 'trace' : 'explain'} ${id}`;
  const room = width - widthOf(more) - 2;
  return [
    widthOf(place) > room ? place : `${padded(place, room)}  ${paint(more, 'dim')}`,
    ...itemNotes(item, { width, paint, now: left?.at ?? now, indent: '    ' }),
    ...jobDecisionLines(item, drawing),
  ];
}

/** The reason why each configured job runs or does not run for this change. */
function jobDecisionLines({ jobDecisions }: LiveItem, { paint, width }: Drawing): readonly string[] {
  const nameWidth = Math.max(4, ...jobDecisions.map(({ job }) => job.length));
  return jobDecisions.flatMap(({ job, runs, because }) => {
    const head = `      ${runs ? paint('+', 'green') : paint('-', 'dim')} ${toWidth(job, nameWidth)}  `;
    const text = runs ? `runs: ${because}` : `does not run: ${because}`;
    return wrapWords(printable(text), head, width).map(each => (runs ? each : paintRest(each, head, paint)));
  });
}

function fate(result: string, paint: Paint): string {
  return result === 'SUCCESS' ? paint('✓', 'green') : paint('✗', resultColour(result));
}

function resultColour(result: string): Colour {
  if (result === 'SUCCESS') return 'green';
  return result === 'DEQUEUED' || result === 'NO_JOBS' ? 'yellow' : 'red';
}

function groupLines(group: EventGroup, several: boolean, drawing: Drawing): readonly string[] {
  const { paint } = drawing;
  const revision = several ? `  ${paint(printable(group.changeText), 'dim')}` : '';
  return [
    `${paint(timeOfDay(group, drawing), 'dim')}  ${paint(printable(group.event), 'bold')}${revision}`,
    ...group.lines.flatMap(line => pipelineLines(line, group, drawing)),
  ];
}

/** `12:01:38`, with the date when it was not within the last day. */
function timeOfDay({ at }: EventGroup, { now, timeZone }: WhyOptions): string {
  const ms = now - millisecondsBetween(at, fromMilliseconds(now));
  const zone = timeZone === undefined ? {} : { timeZone };
  const time = new Date(ms).toLocaleTimeString('en-GB', zone);
  return now - ms < 86_400_000 ? time : `${new Date(ms).toLocaleDateString('en-CA', zone)} ${time}`;
}

function pipelineLines(line: PipelineLine, group: EventGroup, drawing: Drawing): readonly string[] {
  const { paint, width, pipelineWidth } = drawing;
  const [mark, colour] = line.entered ? (['+', 'green'] as const) : (['-', 'dim'] as const);
  const head = `  ${paint(mark, colour)} ${paint(toWidth(line.pipeline, pipelineWidth), ...(line.entered ? (['bold'] as const) : (['dim'] as const)))}  `;
  const first = wrapWords(printable(line.reason), head, width);
  const indent = ' '.repeat(pipelineWidth + 6);
  return [
    ...(line.entered ? first : first.map(each => paintRest(each, head, paint))),
    ...line.after.flatMap(decision => {
      const later = millisecondsBetween(group.at, decision.at);
      const time = later < 0 ? '' : `+${durationText(later)}`;
      const [word, ...colours] = styleOfCode(decision.code);
      const text = printable(`${word}${textOf(decision)}`);
      return wrapWords(text, `${indent}${toWidth(time, 7, 'right')}  `, width).map(each =>
        paint(each, ...colours),
      );
    }),
  ];
}

function paintRest(text: string, head: string, paint: Paint): string {
  return text.startsWith(head) ? head + paint(text.slice(head.length), 'dim') : paint(text, 'dim');
}

/** The text without the name of the change, which the head line has. */
function textOf({ text, changeText }: Decision): string {
  return text.startsWith(`${changeText} `) ? text.slice(changeText.length + 1) : text;
}

function styleOfCode(code: DecisionCode): readonly [string, ...Colour[]] {
  switch (code) {
    case 'reset':
    case 'retry':
    case 'early-failure':
    case 'retest':
    case 'moved-behind':
      return ['', 'yellow'];
    case 'pause':
    case 'window-changed':
    case 'result-ignored':
      return ['', 'dim'];
    default:
      return [''];
  }
}

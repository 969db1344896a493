/** What a run prints besides the log of its job. Pure. */

import type { BuildResultEvent } from '../../executor/deps.ts';
import { type Paint, painter } from '../../lib/ansi.ts';
import { laterOf, millisecondsBetween } from '../../lib/clock.ts';
import { durationText } from '../../lib/duration-text.ts';
import type { BuildResult } from '../../model/results.ts';
import type { Step } from '../../model/step.ts';

/** Before the log: a name and what there is to say of it, one or several lines each. */
export interface RunHead {
  readonly job: readonly string[];
  readonly project: string;
  readonly tested: string;
  readonly config: readonly string[];
  /** What is not as in the service. */
  readonly notes: readonly string[];
}

const NAME_WIDTH = 9;

/** Ends with an empty line. */
export function headLines(head: RunHead, colour: boolean): readonly string[] {
  const paint = painter(colour);
  const rows: readonly (readonly [name: string, lines: readonly string[]])[] = [
    ['job', head.job],
    ['project', [head.project]],
    ['tested', [head.tested]],
    ['config', head.config],
    ['note', head.notes],
  ];
  const lines = rows.flatMap(([name, texts]) =>
    texts.map(
      (text, index) => `${paint((index === 0 ? name : '').padEnd(NAME_WIDTH), 'dim')} ${visible(text)}`,
    ),
  );
  return [...lines, ''];
}

/** Deepest level of steps that is shown, and lines of them. */
const DEEPEST = 3;
const MOST_STEPS = 60;
/** Milliseconds of the executor's own work, below which it is left out, and from which its steps are named. */
const WORTH_SHOWING = 5;
const SLOW = 1000;

/** After the log: where the time went, and the result. Begins with an empty line. */
export function resultLines(name: string, event: BuildResultEvent, colour: boolean): readonly string[] {
  const paint = painter(colour);
  const { result, detail, execution } = event;
  const steps = stepLines(execution?.steps ?? [], paint);
  const shown = steps.slice(0, MOST_STEPS);
  const more = steps.length - shown.length;
  const took =
    execution === null
      ? ''
      : ` in ${durationText(millisecondsBetween(execution.startedAt, execution.endedAt))}`;
  const because = detail === undefined ? '' : `: ${detail}`;
  return [
    '',
    ...shown,
    ...(more > 0 ? [paint(`${' '.repeat(9)}and ${more} more steps`, 'dim')] : []),
    `${paint(result, 'bold', colourOf(result))} ${name}${took}${visible(because)}`,
  ];
}

/** 0: passed; 1: the job did not; 3: it could not be run, which says nothing of it. */
export function exitStatusOf(result: BuildResult): 0 | 1 | 3 {
  switch (result) {
    case 'SUCCESS':
    case 'SKIPPED':
      return 0;
    case 'ERROR':
    case 'NODE_FAILURE':
      return 3;
    default:
      return 1;
  }
}

function colourOf(result: BuildResult) {
  const status = exitStatusOf(result);
  return status === 0 ? 'green' : status === 1 ? 'red' : 'yellow';
}

/** Steps of the executor's own that follow each other, as one. */
interface OwnWork {
  readonly kind: 'own';
  readonly steps: [Step, ...Step[]];
}

function stepLines(steps: readonly Step[], paint: Paint): readonly string[] {
  const rows: (OwnWork | Step)[] = [];
  for (const step of steps) {
    const last = rows.at(-1);
    if (step.kind === 'Playbook') rows.push(step);
    else if (last?.kind === 'own') last.steps.push(step);
    else rows.push({ kind: 'own', steps: [step] });
  }
  return rows.flatMap(row => (row.kind === 'own' ? ownLines(row, paint) : reportedLines(row, paint, 0)));
}

/** One line, and one for each step that took long. */
function ownLines({ steps: [first, ...others] }: OwnWork, paint: Paint): readonly string[] {
  const all = [first, ...others];
  const end = all.map(({ endedAt }) => endedAt).reduce(laterOf);
  const ms = millisecondsBetween(first.startedAt, end);
  if (ms < WORTH_SHOWING) return [];
  const word = first.kind === 'Cleanup' ? 'clean up' : 'prepare';
  const slow = all.filter(step => tookMs(step) >= SLOW);
  const line = (took: number, text: string) => paint(`${durationText(took).padStart(8)}  ${text}`, 'dim');
  return [line(ms, word), ...slow.map(step => line(tookMs(step), `  ${step.kind} ${visible(step.subject)}`))];
}

function reportedLines(step: Step, paint: Paint, level: number): readonly string[] {
  if (level >= DEEPEST) return [];
  const { facts = {}, kind, subject, result } = step;
  const phase = kind === 'Playbook' ? `${facts.phase ?? 'run'} ` : '';
  const text = visible(`${'  '.repeat(level)}${phase}${subject}`);
  const time = durationText(tookMs(step)).padStart(8);
  const word = result === undefined ? undefined : UNPASSED[result];
  const line =
    word === undefined ? `${paint(time, 'dim')}  ${text}` : paint(`${time}  ${text} ${word}`, 'red');
  return [line, ...(step.steps ?? []).flatMap(each => reportedLines(each, paint, level + 1))];
}

const UNPASSED: { readonly [result in NonNullable<Step['result']>]: string | undefined } = {
  SUCCESS: undefined,
  FAILURE: 'failed',
  TIMED_OUT: 'timed out',
  ABORTED: 'stopped',
};

function tookMs({ startedAt, endedAt }: Step): number {
  return millisecondsBetween(startedAt, endedAt);
}

/** Names come from repositories: they must not control a terminal. */
function visible(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, '·');
}

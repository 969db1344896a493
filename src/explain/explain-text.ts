/** An {@link Explanation} for people at a terminal: where the time went, what was lost, what it waited for. */

import { type Paint, painter } from '../lib/ansi.ts';
import type { Nanoseconds } from '../lib/clock.ts';
import { durationText } from '../lib/duration-text.ts';
import { printable, toWidth, widthOf } from '../lib/text-width.ts';
import { between } from '../lib/time-window.ts';
import { rowOfState } from '../model/item-states.ts';
import { elsewhereText } from '../model/test-results.ts';
import { isFailure } from '../tracing/status.ts';
import type { PathLink } from './critical-path.ts';
import type { BuildTimes, ExplainedFailure, Explanation, Reset, StateTotal } from './explain.ts';
import type { WaitedFor } from './waited-for.ts';

/** From the terminal; a width below 60 counts as 60. */
export interface ExplainTextOptions {
  /** Columns, at least 60. */
  readonly width: number;
  readonly colour: boolean;
}

/** The text, without a last line break. */
export function explainText(explanation: Explanation, options: ExplainTextOptions): string {
  const paint = painter(options.colour);
  const width = Math.max(60, options.width);
  const sections = [
    headLines(explanation, paint),
    section('Not reported: the tenant is in shadow mode', withheldLines(explanation, paint), paint),
    section(
      'Where the time went',
      explanation.totals.map(total => totalLine(total, width, paint)),
      paint,
    ),
    section(
      'Tested again',
      explanation.resets.flatMap(reset => resetLines(reset, explanation, paint)),
      paint,
    ),
    section('Its pipeline was taken over', takeoverLines(explanation, paint), paint),
    section(
      'Items it waited for',
      explanation.waitedFor.flatMap(waited => waitedLines(waited, paint)),
      paint,
    ),
    section(buildsTitle(explanation), buildLines(explanation.builds, paint), paint),
    section(
      'Executors that take no builds',
      explanation.executorTroubles.map(
        ({ executor, trouble }) => `  ${printable(executor)}: ${paint(printable(trouble), 'yellow')}`,
      ),
      paint,
    ),
    section(
      'Builds that wait for nodes',
      explanation.nodeWaits.map(each => printable(`  ${each.job}: ${each.text}`)),
      paint,
    ),
    section(
      'Tests that failed',
      explanation.failedTests.flatMap(each => failureLines(each, paint)),
      paint,
    ),
    section(
      'Critical path',
      explanation.criticalPath.map(link => linkLine(link, explanation, paint)),
      paint,
    ),
  ];
  return sections
    .filter(lines => lines.length > 0)
    .map(lines => lines.map(line => cut(line, width, options.colour)).join('\n'))
    .join('\n\n');
}

function section(title: string, lines: readonly string[], paint: Paint): readonly string[] {
  return lines.length === 0 ? [] : [paint(title, 'bold'), ...lines];
}

function headLines(explanation: Explanation, paint: Paint): readonly string[] {
  const { ended } = explanation;
  const place = `in ${explanation.pipeline} of ${explanation.tenant}`;
  const long = text(explanation.duration);
  const fate =
    ended === null
      ? paint(`still there after ${long}`, 'cyan')
      : `${paint(ended.result, ...colourOf(ended.result))} after ${long}${ended.reason === 'reported' ? '' : `: ${ended.text}`}`;
  return [
    `${paint(printable(explanation.changes.join(', ')), 'bold')} ${place}: ${fate}`,
    paint(`item ${explanation.item}`, 'dim'),
  ];
}

function withheldLines({ withheld }: Explanation, paint: Paint): readonly string[] {
  if (withheld === null) return [];
  const parts = withheld.parts.map(({ connection, text: what }) => printable(`${connection} ${what}`));
  const message = withheld.message
    .trimEnd()
    .split('\n')
    .map(line => paint(printable(line), 'dim'));
  return [...parts, ...message].map(line => `  ${line}`);
}

function totalLine({ state, kind, duration, share }: StateTotal, width: number, paint: Paint): string {
  const room = Math.min(48, width - 40);
  const cells = Math.max(1, Math.round(share * room));
  const bar = kind === 'wait' ? paint('░'.repeat(cells), 'yellow') : paint('█'.repeat(cells), 'blue');
  const percent = share > 0 && share < 0.01 ? '<1%' : `${Math.round(share * 100)}%`;
  return `  ${toWidth(rowOfState(state).word, 16)} ${toWidth(text(duration), 7, 'right')} ${toWidth(percent, 5, 'right')}  ${bar}`;
}

function resetLines(reset: Reset, explanation: Explanation, paint: Paint): readonly string[] {
  const at = text(between(explanation.enqueuedAt, reset.at));
  const lost = `${text(reset.elapsed)} after it began; ${text(reset.lostBuildTime)} of build time lost`;
  return [
    `  ${paint('↺', 'yellow')} ${toWidth(`at ${at}`, 11)} ${paint(printable(reset.text), 'yellow')}`,
    paint(`    ${' '.repeat(11)} buildset ${reset.buildset}, ${lost}`, 'dim'),
  ];
}

function takeoverLines(explanation: Explanation, paint: Paint): readonly string[] {
  const { takeovers, moreTakeovers: more, enqueuedAt } = explanation;
  const lines = takeovers.map(({ from, to, how, since, duration }) => {
    const at = toWidth(`at ${text(between(enqueuedAt, since))}`, 11);
    const was = how === 'lost' ? 'was gone' : 'gave it up';
    const words = `${printable(from)} ${was}; ${printable(to)} went on after ${text(duration)}`;
    return `  ${paint('⇄', 'yellow')} ${at} ${words}`;
  });
  if (more === null) return lines;
  return [
    ...lines,
    paint(`    and ${more.count} more, ${text(more.duration)} without a scheduler in all`, 'dim'),
  ];
}

function waitedLines(waited: WaitedFor, paint: Paint): readonly string[] {
  const parts = waited.meanwhile.map(({ state, duration }) => `${rowOfState(state).word} ${text(duration)}`);
  const meanwhile = parts.length === 0 ? 'nothing is known of it any more' : `meanwhile: ${parts.join(', ')}`;
  return [
    `  ${toWidth(text(waited.duration), 7, 'right')}  ${printable(waited.change)} ${paint(rowOfState(waited.state).word, 'dim')}`,
    paint(`           ${meanwhile}`, 'dim'),
  ];
}

function buildsTitle({ executorQueueTime, buildTime }: Explanation): string {
  return `Builds: ${text(buildTime)} on executors, ${text(executorQueueTime)} in their queue`;
}

function failureLines(failure: ExplainedFailure, paint: Paint): readonly string[] {
  const { job, suite, name, message } = failure;
  const words = paint(elsewhereText(failure), failure.elsewhere === null ? 'red' : 'yellow');
  return [
    `  ${printable(`${job}: ${suite}: ${name}`)}`,
    `    ${words}${message === '' ? '' : paint(`; ${printable(message)}`, 'dim')}`,
  ];
}

/** Factor over the usual duration from which it is coloured. */
const SLOW = 1.5;

function buildLines(builds: readonly BuildTimes[], paint: Paint): readonly string[] {
  if (builds.length === 0) return [];
  const jobWidth = Math.min(40, Math.max(3, ...builds.map(build => widthOf(printable(build.job)))));
  const workerWidth = Math.max(6, ...builds.map(build => widthOf(build.worker ?? '')));
  const cells = (job: string, numbers: readonly (readonly [string, number])[], worker: string) =>
    [toWidth(job, jobWidth), ...numbers.map(([cell, width]) => toWidth(cell, width, 'right'))]
      .concat(toWidth(worker, workerWidth))
      .join('  ');
  const columns = (set: string, attempt: string, waited: string) =>
    [[set, 3] as const, [attempt, 3] as const, [waited, 7] as const] as const;
  const head = cells('job', [...columns('set', 'try', 'waited'), ['ran', 7], ['usual', 7]], 'worker');
  const rows = builds.map(build => {
    const result = build.result ?? 'open';
    const usual = build.usual === null ? '–' : `~${text(build.usual)}`;
    const row = cells(
      printable(build.job),
      [
        ...columns(String(build.buildset), String(build.attempt), text(build.waited)),
        [text(build.ran), 7],
        [usual, 7],
      ],
      build.worker ?? '–',
    );
    const slow = isSlow(build) ? paint(' slow', 'yellow') : '';
    return `  ${row}  ${paint(result, ...colourOf(result))}${slow}${build.voting ? '' : paint(' (non-voting)', 'dim')}`;
  });
  return [paint(`  ${head}  result`, 'dim'), ...rows];
}

function isSlow({ usual, ran }: BuildTimes): boolean {
  return usual !== null && Number(ran) > SLOW * Number(usual);
}

function linkLine(link: PathLink, explanation: Explanation, paint: Paint): string {
  const at = text(between(explanation.enqueuedAt, link.from));
  const mark = link.kind === 'wait' ? paint('░', 'yellow') : paint('█', 'blue');
  const words = link.repeated
    ? `${printable(link.text)} ${paint(`(lost to a reset)`, 'yellow')}`
    : printable(link.text);
  return `  ${toWidth(at, 7, 'right')}  ${mark} ${toWidth(text(link.duration), 7, 'right')}  ${words}`;
}

function colourOf(result: string) {
  if (isFailure(result)) return ['red'] as const;
  if (result === 'SUCCESS') return ['green'] as const;
  return result === 'open' ? (['cyan'] as const) : (['yellow'] as const);
}

function text(duration: Nanoseconds): string {
  return durationText(Number(duration) / 1e6);
}

/** Coloured lines are left to the terminal to wrap: cutting inside a colour sequence would leave it open. */
function cut(line: string, width: number, colour: boolean): string {
  return colour ? line : toWidth(line, width).trimEnd();
}

/**
 * The demo's live picture of the gate: pure text. On a terminal each frame replaces the last one; elsewhere each event is a line.
 *
 *     gate, queue integrated
 *       1  app greeting        merged
 *       2  app rename-total    ● app-unit-tests 0.4s  ✓ app-integration-tests
 *       3  app discount        ✗ app-unit-tests  awaits its turn
 *       4  api basket-route    ● api-contract-tests     tested again: app-unit-tests of acme/app master/discount,... ended with FAILURE
 */

import type { LiveItem } from '../../api/live-item.ts';
import { type Paint, painter } from '../../lib/ansi.ts';
import { durationText } from '../../lib/duration-text.ts';
import { toWidth } from '../../lib/text-width.ts';
import { rowOfState } from '../../model/item-states.ts';
import type { FollowedTenant } from '../client/follow.ts';
import { outcomeWord } from './summary.ts';

/** A change of the demo, whether or not it is in the gate. */
export interface ProgressRow {
  /** `app greeting`. */
  readonly name: string;
  /** Undefined: not in the gate yet. */
  readonly item: LiveItem | undefined;
  /** Result of an item that has left the gate. */
  readonly result: string | undefined;
}

const NAME_WIDTH = 22;

/** One line per row, numbered. @param options `now`: milliseconds since the epoch. */
export function progressFrame(
  rows: readonly ProgressRow[],
  options: { readonly width: number; readonly colour: boolean; readonly now: number },
): readonly string[] {
  const paint = painter(options.colour);
  return rows.map((row, index) => {
    const head = `  ${paint(String(index + 1), 'dim')}  ${toWidth(row.name, NAME_WIDTH)}`;
    return `${head} ${statusOf(row, options, paint)}`;
  });
}

function statusOf(
  { item, result }: ProgressRow,
  { width, now }: { readonly width: number; readonly now: number },
  paint: Paint,
): string {
  if (result !== undefined) return paint(outcomeWord(result), result === 'SUCCESS' ? 'green' : 'red');
  if (item === undefined) return paint('not approved yet', 'dim');
  const jobs = item.jobs.map(job => jobText(job, now, paint)).join('  ');
  const { word, role } = rowOfState(item.state.name);
  // Running jobs make the state redundant.
  const state = role === 'run' ? '' : word;
  const reset = item.resets.at(-1);
  const again =
    reset === undefined ? '' : paint(`tested again: ${clip(reset.brief, width - NAME_WIDTH - 60)}`, 'yellow');
  return [jobs, paint(state, 'dim'), again]
    .filter(part => part !== '' && part !== paint('', 'dim'))
    .join('  ');
}

function jobText(job: LiveItem['jobs'][number], now: number, paint: Paint): string {
  switch (job.state) {
    case 'started':
      return `${paint('●', 'cyan')} ${job.name} ${paint(durationText(Math.max(0, now - (job.startedAt ?? now))), 'dim')}`;
    case 'completed':
      return job.result === 'SUCCESS'
        ? `${paint('✓', 'green')} ${job.name}`
        : `${paint('✗', 'red')} ${job.name}`;
    case 'cancelled':
    case 'skipped':
      return `${paint('–', 'dim')} ${job.name}`;
    default:
      return `${paint('○', 'dim')} ${job.name}`;
  }
}

function clip(text: string, width: number): string {
  const room = Math.max(20, width);
  return text.length <= room ? text : `${text.slice(0, room - 1)}…`;
}

/** Differences between two views of the gate, one line each: for logs and pipes. */
export function progressLines(
  before: FollowedTenant | undefined,
  after: FollowedTenant,
  pipeline: string,
): readonly string[] {
  const lines: string[] = [];
  for (const [uuid, item] of after.items)
    if (item.pipeline === pipeline) lines.push(...itemLines(before?.items.get(uuid), item));
  for (const [uuid, item] of before?.items ?? []) {
    if (item.pipeline === pipeline && !after.items.has(uuid)) lines.push(`${nameOf(item)} left ${pipeline}`);
  }
  return lines;
}

function itemLines(before: LiveItem | undefined, item: LiveItem): readonly string[] {
  const name = nameOf(item);
  const resets = item.resets.slice(before?.resets.length ?? 0);
  const jobs = item.jobs.filter(job => {
    const known = before?.jobs.find(each => each.build === job.build && each.name === job.name);
    return job.state !== known?.state && (job.state === 'started' || job.state === 'completed');
  });
  return [
    ...(before === undefined ? [`${name} entered ${item.pipeline}`] : []),
    ...resets.map(reset => `${name} is tested again: ${reset.text}`),
    ...jobs.map(job => `${name}: ${job.name} ${job.state === 'started' ? 'runs' : (job.result ?? 'ended')}`),
  ];
}

function nameOf({ changes }: LiveItem): string {
  return changes.map(({ text }) => text).join(' + ');
}

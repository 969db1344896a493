/**
 * A job of a live or finished item as a short text.
 *
 *     ✓ unit-tests 3.1s   ● integration-tests 12s of ~30s   ○ deploy after unit-tests   ✗ lint FAILURE 2.0s
 */

import type { LiveJob } from '../../api/live-job.ts';
import type { Paint } from '../../lib/ansi.ts';
import { durationText } from '../../lib/duration-text.ts';
import { printable } from '../../lib/text-width.ts';

/** @param now milliseconds on the service's clock. */
export function jobText(job: LiveJob, now: number, paint: Paint): string {
  const name = printable(job.name);
  const again = job.attempt > 1 ? paint(` (try ${job.attempt} of ${job.attempts})`, 'yellow') : '';
  const advisory = job.voting ? '' : paint(' (non-voting)', 'dim');
  switch (job.state) {
    case 'started':
      return `${runningMark(job, paint)} ${name}${running(job, now, paint)}${again}${advisory}`;
    case 'completed':
      return `${completed(job, name, paint)}${again}${advisory}`;
    case 'cancelled':
    case 'skipped':
      return paint(`– ${name} ${job.state}${job.detail === null ? '' : `: ${printable(job.detail)}`}`, 'dim');
    default:
      return `${paint('○', 'dim')} ${name}${paint(waiting(job), 'dim')}${again}${advisory}`;
  }
}

function runningMark(job: LiveJob, paint: Paint): string {
  if (job.result === 'PAUSED') return paint('‖', 'dim');
  return job.result === 'FAILING' ? paint('✗', 'red') : paint('●', 'cyan');
}

function running({ result, startedAt, expectedMs }: LiveJob, now: number, paint: Paint): string {
  const elapsed = durationText(Math.max(0, now - (startedAt ?? now)));
  const usual = expectedMs === null ? '' : paint(` of ~${durationText(expectedMs)}`, 'dim');
  const how =
    result === 'FAILING' ? paint(' failing', 'red') : result === 'PAUSED' ? paint(' paused', 'dim') : '';
  return `${how} ${paint(elapsed, 'cyan')}${usual}`;
}

function completed(
  { result, startedAt, endedAt, voting, detail }: LiveJob,
  name: string,
  paint: Paint,
): string {
  const took =
    startedAt === null || endedAt === null
      ? ''
      : paint(` ${durationText(Math.max(0, endedAt - startedAt))}`, 'dim');
  if (result === 'SUCCESS') return `${paint('✓', 'green')} ${name}${took}`;
  const colour = voting ? 'red' : 'yellow';
  const why = detail === null ? '' : paint(`: ${printable(detail)}`, 'dim');
  return `${paint('✗', colour)} ${name} ${paint(result ?? 'ended', colour)}${took}${why}`;
}

function waiting({ waitingFor }: LiveJob): string {
  if (waitingFor === null) return '';
  if (waitingFor === 'executor') return ' waits for an executor';
  const [, jobs] = /^dependencies: (.*)$/.exec(waitingFor) ?? [];
  return printable(jobs === undefined ? ` waits for ${waitingFor}` : ` after ${jobs}`);
}

/**
 * The text of a report, in the form tools parse from Zuul:
 *
 *     Build succeeded (gate).
 *     http://gate.example.org/t/acme/item/4f0c...
 *     Trace: http://jaeger.example.org/trace/4f0c...
 *
 *     - unit-tests http://gate.example.org/t/acme/build/91ab... : SUCCESS in 1m 02s
 *     - lint http://gate.example.org/t/acme/build/77cd... : FAILURE in 4s (non-voting)
 *
 * A pure function of the report's data: nothing is in the text that is not in the data.
 */
import { millisecondsBetween } from '../../lib/clock.ts';
import { durationText } from '../../lib/duration-text.ts';
import { configErrorText } from '../../model/config-error.ts';
import { projectIdOf } from '../../model/project.ts';
import type { Report, ReportedJob, ReportReason } from '../../model/report.ts';

const SHOWN_ERRORS = 10;

/** A report before its text is written. */
export type ReportFacts = Omit<Report, 'text'>;

/** Lines joined by newlines, without one at the end. */
export function reportText(report: ReportFacts): string {
  const { action, headline, item, urls, footer, retests } = report;
  const first = headline === '' ? [] : [headline];
  if (item === null) return [...first, '', ...reasonLines(report)].join('\n').trimStart();
  const lines = [...first, urls.item];
  const isOver = action !== 'start' && action !== 'enqueue';
  if (isOver && urls.trace !== null) lines.push(`Trace: ${urls.trace}`);
  if (isOver) lines.push('', ...reasonLines(report));
  if (isOver && retests.length > 0) lines.push('', ...retests.map(cause => `Tested again because ${cause}.`));
  for (const warning of report.warnings ?? []) lines.push('', 'Warning:', `  ${warning}`);
  if (footer !== undefined) lines.push('', footer);
  return lines.join('\n');
}

function reasonLines({ reason, jobs }: ReportFacts): readonly string[] {
  return reason === null ? jobs.flatMap(jobLine) : linesOf(reason);
}

function linesOf(reason: ReportReason): readonly string[] {
  switch (reason.kind) {
    case 'refused':
    case 'no-jobs':
      return [reason.text];
    case 'tested-before':
      return [`No job ran: the same tree was tested before, with the same jobs: ${reason.url}`];
    case 'conflict': {
      const { project, with: other, files } = reason;
      const place = `Conflicting in ${projectIdOf(project).name}${other === undefined ? '' : ` with ${other}`}:`;
      return [place, ...files.map(file => `- ${file}`)];
    }
    case 'configuration': {
      const { errors } = reason;
      const shown = errors.slice(0, SHOWN_ERRORS).map(error => `- ${configErrorText(error)}`);
      return errors.length > SHOWN_ERRORS ? [...shown, `and ${errors.length - SHOWN_ERRORS} more`] : shown;
    }
  }
}

/** Jobs without a build have no line. */
function jobLine({ name, url, result, message, detail, voting, ...times }: ReportedJob): readonly string[] {
  if (url === null) return [];
  const why = detail === undefined ? '' : ` ${detail}`;
  return [
    `- ${name} ${url} : ${message ?? result ?? 'unfinished'}${why}${timeText(times)}${voting ? '' : ' (non-voting)'}`,
  ];
}

function timeText({ startedAt, endedAt }: Pick<ReportedJob, 'startedAt' | 'endedAt'>): string {
  return startedAt === null || endedAt === null
    ? ''
    : ` in ${durationText(millisecondsBetween(startedAt, endedAt))}`;
}

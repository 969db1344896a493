/**
 * A report as Markdown: the summary of a check run, the body of a comment. Pure.
 *
 *     **Build failed (gate).** [Item](http://…) · [Trace](http://…)
 *
 *     | Job | Result | Time |
 *     |---|---|---|
 *     | [unit](http://…) | FAILURE: 3 tests failed | 1m 02s |
 *     | [lint](http://…) | SUCCESS (non-voting) | 4.0s |
 *
 *     Tested again because the change ahead of it failed.
 */

import { millisecondsBetween, type Nanoseconds, toMilliseconds } from '../../../src/lib/clock.ts';
import { cutAtLine, cutLine } from '../../../src/lib/cut-text.ts';
import { durationText } from '../../../src/lib/duration-text.ts';
import { configErrorText } from '../../../src/model/config-error.ts';
import { projectIdOf } from '../../../src/model/project.ts';
import type { Report, ReportedJob, ReportedProgress, ReportReason } from '../../../src/model/report.ts';
import { LONGEST_BODY } from './longest-body.ts';
import { markdownLink, markdownText } from './markdown-text.ts';
import { isBeginning } from './report-key.ts';

/** More are on the item's page. */
const SHOWN = { errors: 10, files: 50 };
const LONGEST_TITLE = 255;

/**
 * @param extra paragraphs that belong to the place where it is shown, e.g. which annotations were left out. They come before the
 *   jobs, so that no cut removes them.
 */
export function reportSummary(report: Report, extra: readonly string[] = []): string {
  const { headline, urls, reason, retests, footer, progress } = report;
  const links = [
    markdownLink('Item', urls.item),
    ...(urls.trace === null ? [] : [markdownLink('Trace', urls.trace)]),
  ];
  const paragraphs = [
    [...(headline === '' ? [] : [`**${markdownText(headline)}**`]), links.join(' · ')].join(' '),
    ...extra,
    ...placeLines(report),
    ...(reason === null ? [] : [reasonText(reason)]),
    ...(isBeginning(report) && progress === undefined ? [] : retestText(retests)),
    ...(report.jobs.length === 0 ? [] : [jobsTable(report.jobs)]),
    ...warningText(report),
    ...(footer === undefined ? [] : [footer]),
  ];
  return cutSummary(paragraphs.join('\n\n'), report, LONGEST_BODY);
}

/** @param limit UTF-16 units. */
export function cutSummary(text: string, { urls }: Pick<Report, 'urls'>, limit: number): string {
  return cutAtLine(text, limit, `Cut here: ${markdownLink('all of it', urls.item.slice(0, 2_000))}`);
}

/** One line: the result, and the voting jobs that are the reason. */
export function reportTitle({ action, result, headline, jobs, progress }: Report): string {
  if (progress !== undefined) return cutLine(progressTitle(progress), LONGEST_TITLE);
  if (result === '') return cutLine(headline === '' ? action : headline, LONGEST_TITLE);
  const failed = jobs.filter(({ result: each, voting }) => voting && each !== null && isBad(each));
  const why =
    result === 'FAILURE' && failed.length > 0 ? `: ${failed.map(({ name }) => name).join(', ')}` : '';
  return cutLine(`${result}${why}`, LONGEST_TITLE);
}

function isBad(result: NonNullable<ReportedJob['result']>): boolean {
  return result !== 'SUCCESS' && result !== 'SKIPPED' && result !== 'CANCELED';
}

function placeLines(report: Report): readonly string[] {
  if (report.progress !== undefined) return progressLines(report.progress);
  const { queue } = report.place;
  if (!isBeginning(report) || queue === null || queue.entryPosition === null) return [];
  return [`It entered its queue at place ${queue.entryPosition}.`];
}

function progressTitle({ ahead, running, eta }: ReportedProgress): string {
  const parts = [
    ...(ahead === 0 ? [] : [`${ahead} ahead`]),
    running.length === 0 ? 'waiting' : `running ${running.join(', ')}`,
    ...(eta === null ? [] : [`done about ${clockText(eta)}`]),
  ];
  const title = parts.join('; ');
  return `${title.slice(0, 1).toUpperCase()}${title.slice(1)}`;
}

function progressLines({ ahead, position, running, eta }: ReportedProgress): readonly string[] {
  const where =
    ahead === 0 ? 'Nothing is ahead of it.' : `It is at place ${position} of its queue: ${ahead} ahead.`;
  const when = eta === null ? [] : [`It is probably done about ${clockText(eta)}.`];
  const what = running.length === 0 ? [] : [`Running: ${running.map(markdownText).join(', ')}.`];
  return [[where, ...when, ...what].join(' ')];
}

/** Readers are anywhere, and the text is not written anew for each of them: `16:40 UTC`. */
function clockText(time: Nanoseconds): string {
  return `${new Date(toMilliseconds(time)).toISOString().slice(11, 16)} UTC`;
}

function warningText({ warnings = [] }: Report): readonly string[] {
  if (warnings.length === 0) return [];
  return [warnings.map(warning => `- Warning: ${markdownText(cutLine(warning, 1_000))}`).join('\n')];
}

function retestText(retests: readonly string[]): readonly string[] {
  if (retests.length === 0) return [];
  return [retests.map(cause => `- Tested again because ${markdownText(cause)}.`).join('\n')];
}

function jobsTable(jobs: readonly ReportedJob[]): string {
  return ['| Job | Result | Time |', '|---|---|---|', ...jobs.map(jobRow)].join('\n');
}

function jobRow({ name, result, voting, url, startedAt, endedAt, message, detail }: ReportedJob): string {
  const why = detail === undefined ? '' : `: ${markdownText(cutLine(detail, 500))}`;
  const shown = message === undefined ? (result ?? '') : markdownText(cutLine(message, 500));
  const time =
    startedAt === null || endedAt === null ? '' : durationText(millisecondsBetween(startedAt, endedAt));
  return `| ${markdownLink(name, url)} | ${shown}${why}${voting ? '' : ' (non-voting)'} | ${time} |`;
}

function reasonText(reason: ReportReason): string {
  switch (reason.kind) {
    case 'refused':
    case 'no-jobs':
      return reason.text.split('\n').map(markdownText).join('\n');
    case 'tested-before':
      return `No job ran: ${markdownLink('the same tree was tested before', reason.url)}, with the same jobs.`;
    case 'conflict': {
      const { project, with: other, files } = reason;
      const place = `Conflicting in ${markdownText(projectIdOf(project).name)}${other === undefined ? '' : ` with ${markdownText(other)}`}:`;
      return [place, '', ...listed(files, SHOWN.files)].join('\n');
    }
    case 'configuration':
      return listed(reason.errors.map(configErrorText), SHOWN.errors).join('\n');
  }
}

function listed(lines: readonly string[], most: number): readonly string[] {
  const shown = lines.slice(0, most).map(line => `- ${markdownText(cutLine(line, 1_000))}`);
  return lines.length > most ? [...shown, `- and ${lines.length - most} more`] : shown;
}

/** The one line of a report that matters: which change, where, and why. Pure. */
import { cutLine } from '../lib/cut-text.ts';
import { type Change, changeKeyText, changeText } from '../model/change.ts';
import type { Report, ReportedJob } from '../model/report.ts';

const LONGEST = 500;
const MOST_NAMES = 3;

/**
 *     acme/app 12,3 "Add login" · Build failed (gate): unit FAILURE, exit status 2
 *     acme/app 12,3 "Add login" · Build succeeded (gate).
 *
 * @param changes of the report, one at least.
 */
export function reportLine(report: Report, changes: readonly Change[]): string {
  const why = whyOf(report);
  const headline = report.headline.split('\n', 1)[0] ?? '';
  const said = why === '' ? headline : `${headline.replace(/[.:]$/, '')}: ${why}`;
  return cutLine(`${namesOf(changes)} · ${said}`, LONGEST);
}

function namesOf(changes: readonly Change[]): string {
  const [first] = changes;
  const title = first?.kind === 'change' && first.subject !== '' ? ` "${cutLine(first.subject, 80)}"` : '';
  if (first !== undefined && changes.length === 1) return `${changeText(first)}${title}`;
  return someOf(changes.map(changeText));
}

function whyOf({ reason, jobs, action }: Report): string {
  if (action === 'success' || action === 'start' || action === 'enqueue') return '';
  if (reason === null) return someOf(jobs.filter(isToBlame).map(jobText));
  switch (reason.kind) {
    case 'refused':
    case 'no-jobs':
      return reason.text.replaceAll('\n', '; ');
    case 'tested-before':
      return 'the same tree was tested before';
    case 'conflict': {
      const other = reason.with === undefined ? '' : ` with ${changeKeyText(reason.with)}`;
      return `conflict${other} in ${someOf(reason.files)}`;
    }
    case 'configuration': {
      const [first, ...more] = reason.errors;
      return `${first?.text ?? ''}${more.length === 0 ? '' : ` and ${more.length} more`}`;
    }
  }
}

function isToBlame({ voting, result }: ReportedJob): boolean {
  return voting && result !== null && result !== 'SUCCESS' && result !== 'SKIPPED' && result !== 'CANCELED';
}

function jobText({ name, result, detail, message }: ReportedJob): string {
  return `${name} ${message ?? result ?? ''}${detail === undefined ? '' : `, ${detail}`}`;
}

function someOf(names: readonly string[]): string {
  const more = names.length - MOST_NAMES;
  return `${names.slice(0, MOST_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Remarks of jobs about lines of files, for hosts that cannot show them there. */
import { cutLine } from '../lib/cut-text.ts';
import type { Report } from '../model/report.ts';

/** More are on the pages of the builds. */
const LISTED = 10;

/** The report's text, with the first remarks that jobs returned. Those about the configuration are in it anyway. */
export function textWithRemarks({ text, fileComments }: Report): string {
  const remarks = fileComments.filter(({ job }) => job !== undefined);
  if (remarks.length === 0) return text;
  const lines = remarks
    .slice(0, LISTED)
    .map(remark => `- ${cutLine(`${remark.file}:${remark.line}: ${remark.text.replace(/\s+/g, ' ')}`, 300)}`);
  const more = remarks.length > LISTED ? [`- and ${remarks.length - LISTED} more`] : [];
  return [text, '', 'Remarks:', ...lines, ...more].join('\n');
}

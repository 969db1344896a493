/**
 * The message of a review: the report's text, what could not be shown elsewhere, and the line by which it is found again. Pure.
 *
 * Gerrit counts the characters of a message (`change.commentSizeLimit`, 16 384 unless a site has another limit) and puts a line with
 * patch set and votes before it.
 */
import { cutAtLine, cutLine } from '../../../src/lib/cut-text.ts';
import type { FileComment, Report } from '../../../src/model/report.ts';
import { voteText } from '../language/vote-value.ts';
import { remarksParagraph } from './line-comments.ts';
import type { LabelVote } from './report-context.ts';
import { reviewKey } from './report-key.ts';
import { withoutControls } from './without-controls.ts';

/** Characters, with room for what Gerrit adds. */
const LONGEST_MESSAGE = 15_000;

/** A vote that Gerrit did not take, and why. */
export interface DroppedVote extends LabelVote {
  readonly why: string;
}

/** What a message says besides the report. */
export interface MessageExtras {
  readonly remarks: readonly FileComment[];
  readonly dropped: readonly DroppedVote[];
}

/** Ends with the report's key. */
export function reviewMessage(report: Report, { remarks, dropped }: MessageExtras): string {
  const extra = [
    ...(dropped.length === 0 ? [] : [droppedText(dropped)]),
    ...(remarks.length === 0 ? [] : [remarksParagraph(remarks)]),
  ];
  const tail = [...extra, reviewKey(report)].join('\n\n');
  const more = `Cut here, all of it: ${report.urls.item.slice(0, 2_000)}`;
  const text = cutAtLine(withoutControls(report.text), LONGEST_MESSAGE - tail.length - 2, more);
  return `${text}\n\n${tail}`;
}

/** For a Gerrit that takes less than the whole: headline, link, key. */
export function briefMessage(report: Report): string {
  return [
    ...(report.headline === '' ? [] : [cutLine(withoutControls(report.headline), 200)]),
    report.urls.item.slice(0, 2_000),
    '',
    reviewKey(report),
  ].join('\n');
}

/** One line. @param dropped not empty. */
export function droppedText(dropped: readonly DroppedVote[]): string {
  const votes = dropped.map(
    vote => `${voteText(vote.label, vote.value)} (${cutLine(withoutControls(vote.why), 300)})`,
  );
  return `Gerrit did not take our vote ${votes.join(', ')}.`;
}

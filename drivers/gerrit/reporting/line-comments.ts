/**
 * Remarks about lines of files as comments of a review, within limits. Pure.
 *
 * Gerrit refuses a whole review for a file that the patch set does not have, and keeps 5 000 comments of a change.
 */
import { cutLine } from '../../../src/lib/cut-text.ts';
import type { ProposedChange } from '../../../src/model/change.ts';
import type { FileComment } from '../../../src/model/report.ts';
import type { CommentRange } from '../../../src/model/returned.ts';
import { withoutControls } from './without-controls.ts';

/** Of one report. The item's page has all. */
const MOST_COMMENTS = 100;
/** Characters of one comment; Gerrit takes 16 384. */
const LONGEST_COMMENT = 4_000;
const LISTED = 10;

/** As a review takes it. */
interface LineComment {
  readonly line: number;
  readonly message: string;
  readonly unresolved: boolean;
  readonly range?: {
    readonly start_line: number;
    readonly start_character: number;
    readonly end_line: number;
    readonly end_character: number;
  };
}

/** What is sent beside the message. */
export interface LineCommentPlan {
  /** By path. */
  readonly comments: { readonly [path: string]: readonly LineComment[] };
  /** Of those that are not among them; listed in the message. */
  readonly leftOut: readonly FileComment[];
}

/** Those of the change's own project and branch. */
export function ownRemarks(
  remarks: readonly FileComment[],
  { project, branch }: Pick<ProposedChange, 'project' | 'branch'>,
): readonly FileComment[] {
  return remarks.filter(each => each.project === project && each.branch === branch);
}

/** @param files that the patch set changes and still has; null: not known. */
export function planLineComments(
  remarks: readonly FileComment[],
  files: ReadonlySet<string> | null,
): LineCommentPlan {
  const inside = remarks.filter(({ file }) => files === null || files.has(file));
  const shown = new Set(inside.slice(0, MOST_COMMENTS));
  const paths = Map.groupBy(shown, ({ file }) => file);
  return {
    comments: Object.fromEntries([...paths].map(([path, own]) => [path, own.map(commentOf)])),
    leftOut: remarks.filter(remark => !shown.has(remark)),
  };
}

// An open thread would stay open in later patch sets, and may hold back the submission of a change that is right by then.
function commentOf({ line, text, range }: FileComment): LineComment {
  const message = withoutControls(text).slice(0, LONGEST_COMMENT);
  return {
    // With a range Gerrit takes its last line alone.
    line: range?.endLine ?? Math.max(1, Math.trunc(line) || 1),
    message: message.trim() === '' ? '(no text)' : message,
    unresolved: false,
    ...(range === undefined ? {} : { range: rangeOf(range) }),
  };
}

function rangeOf({ startLine, startCharacter, endLine, endCharacter }: CommentRange) {
  return {
    ...{ start_line: startLine, start_character: startCharacter },
    ...{ end_line: endLine, end_character: endCharacter },
  };
}

/** Paragraph about remarks that are not shown at their lines. @param remarks not empty. */
export function remarksParagraph(remarks: readonly FileComment[]): string {
  const listed = remarks
    .slice(0, LISTED)
    .map(({ file, line, text }) => `- ${cutLine(withoutControls(`${file}:${line}: ${text}`), 300)}`);
  const more = remarks.length > LISTED ? [`- and ${remarks.length - LISTED} more`] : [];
  return ['Remarks that are not shown at their lines:', ...listed, ...more].join('\n');
}

/**
 * Remarks about lines of files as annotations of a check run, within GitHub's limits. Pure.
 *
 * GitHub takes 50 in a call and appends those of the next, so that the number it holds says where to go on after a lost answer:
 * the order here is part of that.
 */

import { cutBytes, cutLine } from '../../../src/lib/cut-text.ts';
import type { BranchName, ProjectKey } from '../../../src/model/project.ts';
import type { FileComment } from '../../../src/model/report.ts';
import { markdownText } from './markdown-text.ts';

/** GitHub's limit. */
export const ANNOTATIONS_PER_CALL = 50;
/** Of one check run: four calls. The item's page has all. */
const MOST_ANNOTATIONS = 200;
const LONGEST_MESSAGE_BYTES = 64 * 1024;
const SHOWN_ELSEWHERE = 10;
/** Lines are 32-bit numbers at GitHub. */
const LAST_LINE = 2 ** 31 - 1;

/** As `POST …/check-runs` takes it. */
export interface CheckAnnotation {
  readonly path: string;
  readonly start_line: number;
  readonly end_line: number;
  readonly annotation_level: 'notice' | 'warning' | 'failure';
  readonly message: string;
}

/** What a check run shows of the remarks, and what it says about the rest. */
export interface AnnotationPlan {
  readonly annotations: readonly CheckAnnotation[];
  /** Markdown; empty: nothing was left out. */
  readonly leftOut: readonly string[];
}

/**
 * @param files paths that the pull request changes; null: not known, or there is no pull request. GitHub shows annotations of
 *   other files where reviewers do not see them, so these are listed in the text.
 */
export function planAnnotations(
  comments: readonly FileComment[],
  place: { readonly project: ProjectKey; readonly branch?: BranchName },
  files: ReadonlySet<string> | null,
): AnnotationPlan {
  const own = comments.filter(({ project, branch }) => project === place.project && branch === place.branch);
  const inside = own.filter(({ file }) => files === null || files.has(file));
  const outside = own.filter(({ file }) => files !== null && !files.has(file));
  const annotations = inside.slice(0, MOST_ANNOTATIONS).map(annotationOf);
  const beyond = inside.length - annotations.length;
  if (outside.length === 0 && beyond === 0) return { annotations, leftOut: [] };
  const why = [
    ...(outside.length === 0 ? [] : [`${outside.length} about files that the pull request does not change`]),
    ...(beyond === 0 ? [] : [`${beyond} beyond the first ${MOST_ANNOTATIONS}`]),
  ];
  const total = outside.length + beyond;
  const lines = outside
    .slice(0, SHOWN_ELSEWHERE)
    .map(({ file, line, text }) => `- ${markdownText(`${file}:${line}: ${cutLine(text, 300)}`)}`);
  return {
    annotations,
    leftOut: [
      `${total} of ${own.length} remarks are not shown as annotations: ${why.join(', ')}.`,
      ...(lines.length === 0 ? [] : [lines.join('\n')]),
    ],
  };
}

const LEVELS = { info: 'notice', warning: 'warning', error: 'failure' } as const;

function annotationOf({ file, line, severity, text, range }: FileComment): CheckAnnotation {
  const at = Math.min(LAST_LINE, Math.max(1, Math.trunc(line) || 1));
  return {
    path: file,
    start_line: range?.startLine ?? at,
    end_line: range?.endLine ?? at,
    annotation_level: LEVELS[severity],
    message: cutBytes(text.trim() === '' ? '(no text)' : text, LONGEST_MESSAGE_BYTES),
  };
}

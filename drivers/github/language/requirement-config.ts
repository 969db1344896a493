/**
 * `require: {github: {review: {type: approved, permission: write}, label: gate, open: true}}`, and the same keys below `reject:`.
 *
 *     require   all keys have to hold; every `label` and every `review`, of several `status` one
 *     reject    one thing that is named is enough
 *
 * A `status` is a regular expression for all of `creator:context:state`. Commit statuses and check runs count alike, as at
 * GitHub; an App's status is by `<slug>[bot]`, its check run by `<slug>`.
 */
import type { ParseResult } from '../../../src/driver/parse-result.ts';
import type { Pattern } from '../../../src/driver/pattern.ts';
import { readMapping } from '../../../src/driver/read-mapping.ts';
import type { Json } from '../../../src/model/job.ts';
import { parseReviewRequirement, type ReviewRequirement } from './review-requirement.ts';

/** Yes-or-no questions about a pull request. */
export const FLAGS = ['open', 'merged', 'current-patchset', 'draft'] as const;

/** Keys that are not written do not occur. */
export type GithubRequirement = {
  readonly status?: readonly Pattern[];
  readonly review?: readonly ReviewRequirement[];
  /** Exact names. */
  readonly label?: readonly string[];
} & { readonly [flag in (typeof FLAGS)[number]]?: boolean };

/** See `DriverConfigLanguage`; what it returns parses to itself. */
export function parseGithubRequirement(value: Json): ParseResult<GithubRequirement> {
  const mapping = readMapping(
    value,
    ['status', 'review', 'label', ...FLAGS],
    'a requirement of a GitHub connection',
  );
  const status = mapping.patterns('status');
  const review = mapping.each('review', parseReviewRequirement);
  const label = mapping.strings('label');
  const flags = mapping.booleans(FLAGS);
  return mapping.result({
    ...(status.length === 0 ? {} : { status }),
    ...(review.length === 0 ? {} : { review }),
    ...(label.length === 0 ? {} : { label }),
    ...flags,
  });
}

/**
 * `require: {gerrit: {open: true, current-patchset: true, approval: [{Workflow: 1}, {Verified: [1, 2], username: ^zuul$}]}}`, and the same
 * keys below `reject:`.
 *
 *     require   all keys have to hold; every `approval` and every one of `hashtags`, of several `status` one
 *     reject    one thing that is named is enough
 */
import type { ParseResult } from '../../../src/driver/parse-result.ts';
import type { Pattern } from '../../../src/driver/pattern.ts';
import { readMapping } from '../../../src/driver/read-mapping.ts';
import type { Json } from '../../../src/model/job.ts';
import { type ApprovalRequirement, parseApprovalRequirement } from './approval-requirement.ts';

/** Yes-or-no questions about a change. */
export const CHANGE_FLAGS = ['open', 'current-patchset', 'wip'] as const;

/** Gerrit's own; the last two are of versions before 2.15. */
const STATUSES = ['NEW', 'MERGED', 'ABANDONED', 'SUBMITTED', 'DRAFT'] as const;

/** Keys that are not written do not occur. */
export type GerritRequirement = {
  readonly approval?: readonly ApprovalRequirement[];
  readonly status?: readonly (typeof STATUSES)[number][];
  /** Searched in each hashtag. */
  readonly hashtags?: readonly Pattern[];
} & { readonly [flag in (typeof CHANGE_FLAGS)[number]]?: boolean };

/** See `DriverConfigLanguage`; what it returns parses to itself. */
export function parseGerritRequirement(value: Json): ParseResult<GerritRequirement> {
  const mapping = readMapping(
    value,
    ['approval', 'status', 'hashtags', ...CHANGE_FLAGS],
    'a requirement of a Gerrit connection',
  );
  const approval = mapping.each('approval', parseApprovalRequirement);
  const status = mapping.choices('status', STATUSES);
  const hashtags = mapping.patterns('hashtags');
  const flags = mapping.booleans(CHANGE_FLAGS);
  return mapping.result({
    ...(approval.length === 0 ? {} : { approval }),
    ...(status.length === 0 ? {} : { status }),
    ...(hashtags.length === 0 ? {} : { hashtags }),
    ...flags,
  });
}

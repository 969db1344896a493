/** `success: {github: {check: success, merge: true, comment: false, unlabel: gate}}` */
import type { ParseResult } from '../../../src/driver/parse-result.ts';
import { type Mapping, parsedBefore, readMapping } from '../../../src/driver/read-mapping.ts';
import type { Json } from '../../../src/model/job.ts';
import type { LandingMode } from '../../../src/model/landed.ts';

const STATUSES = ['pending', 'success', 'failure'] as const;
const CHECKS = ['in_progress', 'success', 'failure', 'cancelled', 'skipped', 'neutral'] as const;
const REVIEWS = ['approve', 'request-changes', 'comment'] as const;

/** In Zuul's words. Keys that are not written do not occur. */
export type GithubReporterConfig = {
  readonly status?: (typeof STATUSES)[number];
  /** A URL in place of the item's page. Zuul has given it up. */
  readonly 'status-url'?: string;
  readonly check?: (typeof CHECKS)[number];
  /** Default true. */
  readonly comment?: boolean;
  readonly review?: (typeof REVIEWS)[number];
  readonly 'review-body'?: string;
  readonly label?: readonly string[];
  readonly unlabel?: readonly string[];
  readonly merge?: boolean;
};

const KEYS = [
  'status',
  'status-url',
  'check',
  'comment',
  'review',
  'review-body',
  'label',
  'unlabel',
  'merge',
];

/** See `DriverConfigLanguage`; what it returns parses to itself. */
export function parseGithubReporter(value: Json): ParseResult<GithubReporterConfig> {
  const mapping = readMapping(value, KEYS, 'a reporter of a GitHub connection');
  const label = mapping.strings('label');
  const unlabel = mapping.strings('unlabel');
  const both = label.find(each => unlabel.includes(each));
  if (both !== undefined)
    mapping.refuse(['unlabel'], 'contradiction', `"${both}" stands under label and under unlabel`);
  const review = one(mapping, 'review', REVIEWS);
  const body = oneString(mapping, 'review-body');
  if (review !== undefined && review !== 'approve' && !body)
    mapping.refuse(
      ['review'],
      'missing-key',
      `"review: ${review}" needs a "review-body": GitHub takes it with a text only`,
    );
  if (body !== undefined && review === undefined)
    mapping.refuse(['review-body'], 'missing-key', '"review-body" goes with "review"');
  return mapping.result({
    ...written('status', one(mapping, 'status', STATUSES)),
    ...written('status-url', oneString(mapping, 'status-url')),
    ...written('check', one(mapping, 'check', CHECKS)),
    ...written('comment', mapping.boolean('comment')),
    ...written('review', review),
    ...written('review-body', body),
    ...(label.length === 0 ? {} : { label }),
    ...(unlabel.length === 0 ? {} : { unlabel }),
    ...written('merge', mapping.boolean('merge')),
  });
}

function written<Key extends string, T>(key: Key, value: T | undefined): { readonly [key in Key]?: T } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [key in Key]: T });
}

function one<const Choice extends string>(
  mapping: Mapping,
  key: string,
  choices: readonly Choice[],
): Choice | undefined {
  const [first, ...rest] = mapping.choices(key, choices);
  if (rest.length > 0)
    mapping.refuse([key], 'wrong-type', `"${key}" is one of ${choices.join(', ')}, not several`);
  return first;
}

function oneString(mapping: Mapping, key: string): string | undefined {
  const [first, ...rest] = mapping.strings(key);
  if (rest.length > 0) mapping.refuse([key], 'wrong-type', `"${key}" is one text, not several`);
  return first;
}

/** Null: the reporter does not merge. With the connection's `landing = api` GitHub merges. @throws Error for a config not parsed before. */
export function githubLandingMode(config: Json): LandingMode | null {
  return parsedBefore(parseGithubReporter(config)).merge === true ? 'push' : null;
}

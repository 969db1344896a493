/**
 * `review: {username: ^bob$, type: approved, permission: write, newer-than: 2d}`: a review that has to be there, or may not be.
 * All that is written must hold of one review.
 *
 * An approval of another commit than the head does not count unless `any-commit: true` stands there, which is our word; requested
 * changes count on any commit, as GitHub has it.
 */
import { isOlder, olderFrom } from '../../../src/driver/age.ts';
import type { ParseResult } from '../../../src/driver/parse-result.ts';
import { type CompiledPattern, compilePattern, type Pattern } from '../../../src/driver/pattern.ts';
import { type Mapping, readMapping } from '../../../src/driver/read-mapping.ts';
import type { Nanoseconds } from '../../../src/lib/clock.ts';
import type { Json } from '../../../src/model/job.ts';
import type { Permission, ReviewFact } from '../facts.ts';

const TYPES = ['approved', 'changes_requested', 'commented'] as const;
const PERMISSIONS = ['read', 'write', 'admin'] as const;

/** Keys that are not written do not occur. Ages are in seconds. */
export type ReviewRequirement = {
  readonly username?: Pattern;
  readonly email?: Pattern;
  readonly 'older-than'?: number;
  readonly 'newer-than'?: number;
  /** Any of them. */
  readonly type?: readonly ReviewFact['state'][];
  /** Any of them; `write` includes `admin`. */
  readonly permission?: readonly Permission[];
  readonly 'any-commit'?: true;
};

/** What it returns parses to itself. */
export function parseReviewRequirement(value: Json): ParseResult<ReviewRequirement> {
  const keys = ['username', 'email', 'older-than', 'newer-than', 'type', 'permission', 'any-commit'];
  const mapping = readMapping(value, keys, 'a review');
  const username = onePattern(mapping, 'username');
  const email = onePattern(mapping, 'email');
  const olderThan = mapping.duration('older-than');
  const newerThan = mapping.duration('newer-than');
  const type = mapping.choices('type', TYPES);
  const permission = mapping.choices('permission', PERMISSIONS);
  return mapping.result({
    ...(username === undefined ? {} : { username }),
    ...(email === undefined ? {} : { email }),
    ...(olderThan === undefined ? {} : { 'older-than': olderThan }),
    ...(newerThan === undefined ? {} : { 'newer-than': newerThan }),
    ...(type.length === 0 ? {} : { type }),
    ...(permission.length === 0 ? {} : { permission }),
    ...(mapping.boolean('any-commit') ? { 'any-commit': true } : {}),
  });
}

function onePattern(mapping: Mapping, key: string): Pattern | undefined {
  const [first, ...rest] = mapping.patterns(key);
  if (rest.length > 0)
    mapping.refuse(
      [key],
      'wrong-type',
      `"${key}" of a review is one regular expression; write a|b for several`,
    );
  return first;
}

/** A requirement that is ready to be asked. */
export interface ReviewMatcher {
  /** Whether the review is the one that is meant. */
  matches(review: ReviewFact, head: string, now: Nanoseconds): boolean;
  /** When an age makes `matches` answer otherwise; times that have passed are among them. */
  turningPoints(review: ReviewFact): readonly Nanoseconds[];
  /** `approved by write`, for people. */
  readonly text: string;
  /** Why the nearest of the reviews is not it: `eve has read`; undefined: there is nothing to say. */
  nearest(reviews: readonly ReviewFact[], head: string, now: Nanoseconds): string | undefined;
}

/** Says of one review what it lacks; undefined: nothing. */
type Condition = (review: ReviewFact, head: string, now: Nanoseconds) => string | undefined;

/** @throws Error for a requirement that was not parsed before. */
export function reviewMatcher(requirement: ReviewRequirement): ReviewMatcher {
  // From what a review is to when it came: the review that gets furthest is the nearest.
  const conditions: readonly Condition[] = [
    ...typeCondition(requirement),
    ...whoConditions(requirement),
    ...permissionCondition(requirement),
    ...(requirement['any-commit'] ? [] : [ofHead]),
    ...ageConditions(requirement),
  ];
  const failing = (review: ReviewFact, head: string, now: Nanoseconds) =>
    conditions.findIndex(condition => condition(review, head, now) !== undefined);
  const ages = [requirement['older-than'], requirement['newer-than']].filter(age => age !== undefined);
  return {
    text: reviewText(requirement),
    matches: (review, head, now) => failing(review, head, now) === -1,
    turningPoints: review => ages.map(age => olderFrom(review.at, age)),
    nearest(reviews, head, now) {
      const ranked = reviews
        .map(review => ({ review, at: failing(review, head, now) }))
        .toSorted((a, b) => b.at - a.at);
      const [first] = ranked;
      return first && conditions[first.at]?.(first.review, head, now);
    },
  };
}

function typeCondition({ type }: ReviewRequirement): readonly Condition[] {
  if (type === undefined) return [];
  return [({ by, state }) => (type.includes(state) ? undefined : `${by} ${STATES[state]}`)];
}

function whoConditions({ username, email }: ReviewRequirement): readonly Condition[] {
  const conditions: Condition[] = [];
  if (username !== undefined) {
    const pattern = compilePattern(username, 'search');
    conditions.push(({ by }) => (pattern.takes(by) ? undefined : `the review is by ${by}`));
  }
  if (email !== undefined) {
    const pattern: CompiledPattern = compilePattern(email, 'search');
    conditions.push(({ by, email: own }) => {
      // A profile without address matches nothing that asks for one, negated or not.
      if (own !== null && pattern.takes(own)) return undefined;
      return own === null ? `${by} shows no e-mail address` : `${by} has another e-mail address`;
    });
  }
  return conditions;
}

function permissionCondition({ permission }: ReviewRequirement): readonly Condition[] {
  // Who reviews can read.
  if (permission === undefined || permission.includes('read')) return [];
  const enough: readonly Permission[] = permission.includes('write') ? ['write', 'admin'] : ['admin'];
  return [({ by, permission: own }) => (enough.includes(own) ? undefined : `${by} has ${own}`)];
}

function ofHead({ by, state, commit }: ReviewFact, head: string): string | undefined {
  return state !== 'approved' || commit === head ? undefined : `${by} approved an earlier commit`;
}

function ageConditions(requirement: ReviewRequirement): readonly Condition[] {
  const { 'older-than': olderThan, 'newer-than': newerThan } = requirement;
  const conditions: Condition[] = [];
  if (olderThan !== undefined)
    conditions.push((review, _, now) =>
      isOlder(review.at, olderThan, now)
        ? undefined
        : `that of ${review.by} is not older than ${seconds(olderThan)}`,
    );
  if (newerThan !== undefined)
    conditions.push((review, _, now) =>
      isOlder(review.at, newerThan, now)
        ? `that of ${review.by} is older than ${seconds(newerThan)}`
        : undefined,
    );
  return conditions;
}

const STATES: { readonly [state in ReviewFact['state']]: string } = {
  approved: 'approved',
  changes_requested: 'requested changes',
  commented: 'only commented',
};

function reviewText(requirement: ReviewRequirement): string {
  const { username, email, type, permission } = requirement;
  const parts = [
    type === undefined ? 'reviewed' : type.map(each => TYPE_TEXTS[each]).join(' or '),
    permission === undefined ? '' : `by ${permission.join(' or ')}`,
    username === undefined ? '' : `by a user ${compilePattern(username, 'search').text}`,
    email === undefined ? '' : `by an e-mail address ${compilePattern(email, 'search').text}`,
    requirement['older-than'] === undefined ? '' : `more than ${seconds(requirement['older-than'])} ago`,
    requirement['newer-than'] === undefined ? '' : `less than ${seconds(requirement['newer-than'])} ago`,
  ];
  return parts.filter(part => part !== '').join(' ');
}

const TYPE_TEXTS: { readonly [state in ReviewFact['state']]: string } = {
  approved: 'approved',
  changes_requested: 'changes requested',
  commented: 'commented',
};

function seconds(age: number): string {
  return `${age} s`;
}

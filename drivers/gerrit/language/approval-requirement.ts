/**
 * `approval: {Verified: [1, 2], username: ^zuul$, newer-than: 2d}`: a vote that has to be there, or may not be. All that is written must
 * hold of one vote on the current patch set; nothing written means any vote.
 *
 * A vote has one label, so several in one mapping, which no vote has ever matched in Zuul, are refused. So is the value 0: it is no vote.
 * User names and addresses are searched for the expression; an account without either counts as having an empty one.
 */
import { isOlder, olderFrom } from '../../../src/driver/age.ts';
import type { ParseResult } from '../../../src/driver/parse-result.ts';
import { compilePattern, type Pattern } from '../../../src/driver/pattern.ts';
import { isMapping, type Mapping, readMapping } from '../../../src/driver/read-mapping.ts';
import type { Nanoseconds } from '../../../src/lib/clock.ts';
import type { Json } from '../../../src/model/job.ts';
import type { Approval } from '../facts.ts';
import { isLabelName, readVoteValue, signed, voteText } from './vote-value.ts';

const KEYS = ['username', 'email', 'older-than', 'newer-than'];

/** Keys that are not written do not occur; every other key is a label with the values that count. Ages are in seconds. */
export type ApprovalRequirement = {
  readonly username?: Pattern;
  readonly email?: Pattern;
  readonly 'older-than'?: number;
  readonly 'newer-than'?: number;
} & { readonly [label: string]: readonly number[] | Pattern | number };

/** What it returns parses to itself. */
export function parseApprovalRequirement(value: Json): ParseResult<ApprovalRequirement> {
  const labels = isMapping(value) ? Object.keys(value).filter(key => !KEYS.includes(key)) : [];
  const mapping = readMapping(value, [...KEYS, ...labels], 'an approval');
  const parsed: { [key: string]: readonly number[] | Pattern | number } = {};
  for (const key of ['username', 'email']) {
    const [first, ...rest] = mapping.patterns(key);
    if (rest.length > 0)
      mapping.refuse([key], 'wrong-type', `"${key}" is one regular expression; write a|b for several`);
    if (first !== undefined) parsed[key] = first;
  }
  for (const key of ['older-than', 'newer-than']) {
    const age = mapping.duration(key);
    if (age !== undefined) parsed[key] = age;
  }
  for (const label of labels) parsed[label] = readValues(mapping, label);
  if (labels.length > 1)
    mapping.refuse(
      [],
      'contradiction',
      `one vote has one label: write ${labels.join(' and ')} as approvals of their own`,
    );
  return mapping.result(parsed as ApprovalRequirement);
}

function readValues(mapping: Mapping, label: string): readonly number[] {
  if (!isLabelName(label))
    mapping.refuse(
      [label],
      'unknown-key',
      `"${label}" is neither ${KEYS.join(', ')} nor the name of a label`,
    );
  const values = mapping.each(label, (value): ParseResult<number> => {
    const read = readVoteValue(value);
    if (read !== undefined) return { kind: 'ok', value: read };
    const text = `the value of ${label} in an approval must be a whole number or a list of them`;
    return { kind: 'invalid', problems: [{ path: [], code: 'wrong-type', text }] };
  });
  if (values.length > 0 && values.every(value => value === 0))
    mapping.refuse([label], 'contradiction', `"${label}: 0" matches nothing: 0 is no vote`);
  return values;
}

/** A requirement that is ready to be asked. */
export interface ApprovalMatcher {
  /** Whether the vote is the one that is meant. */
  matches(approval: Approval, now: Nanoseconds): boolean;
  /** When an age makes `matches` answer otherwise; times that have passed are among them. */
  turningPoints(approval: Approval): readonly Nanoseconds[];
  /** `Verified +1 or +2 by zuul`, for people. */
  readonly text: string;
  /** What there is instead, of the votes that come nearest: `Verified -1 by bob`; undefined: nothing to say. */
  nearest(approvals: readonly Approval[], now: Nanoseconds): string | undefined;
}

/** Says of one vote whether it is meant, in one respect. */
type Condition = (approval: Approval, now: Nanoseconds) => boolean;

/** Votes in one sentence. */
const MOST_NAMED = 3;

/** @throws Error for a requirement that was not parsed before. */
export function approvalMatcher(requirement: ApprovalRequirement): ApprovalMatcher {
  const { username, email, 'older-than': olderThan, 'newer-than': newerThan, ...labels } = requirement;
  const [[label, values] = [undefined, undefined]] = Object.entries(labels);
  // From what a vote is to when it came: those that get furthest are the nearest.
  const conditions: readonly Condition[] = [
    ...(label === undefined ? [] : labelConditions(label, values as readonly number[])),
    ...(username === undefined ? [] : [whoCondition(username, ({ by }) => by.username)]),
    ...(email === undefined ? [] : [whoCondition(email, ({ by }) => by.email)]),
    ...(olderThan === undefined ? [] : [ageCondition(olderThan, true)]),
    ...(newerThan === undefined ? [] : [ageCondition(newerThan, false)]),
  ];
  const failing = (approval: Approval, now: Nanoseconds) =>
    conditions.findIndex(condition => !condition(approval, now));
  const ages = [olderThan, newerThan].filter(age => age !== undefined);
  return {
    text: requirementText(requirement, label, values as readonly number[] | undefined),
    matches: (approval, now) => failing(approval, now) === -1,
    turningPoints: ({ at }) => (at === null ? [] : ages.map(age => olderFrom(at, age))),
    nearest(approvals, now) {
      const ranked = approvals.map(approval => ({ approval, at: failing(approval, now) }));
      const furthest = Math.max(...ranked.map(({ at }) => at));
      // Votes of other labels say nothing.
      if (label !== undefined && furthest < 1) return undefined;
      const nearest = ranked
        .filter(({ at }) => at === furthest)
        .map(({ approval }) => approvalText(approval));
      const more = nearest.length > MOST_NAMED ? ` and ${nearest.length - MOST_NAMED} more` : '';
      return nearest.length === 0 ? undefined : `${nearest.slice(0, MOST_NAMED).join(', ')}${more}`;
    },
  };
}

/** `Verified -1 by bob`. */
export function approvalText({ label, value, by }: Approval): string {
  return `${voteText(label, value)} by ${by.username ?? by.name ?? by.email ?? `account ${by.id ?? '?'}`}`;
}

function labelConditions(label: string, values: readonly number[]): readonly Condition[] {
  return [approval => approval.label === label, approval => values.includes(approval.value)];
}

function whoCondition(source: Pattern, of: (approval: Approval) => string | null): Condition {
  const pattern = compilePattern(source, 'search');
  return approval => pattern.takes(of(approval) ?? '');
}

/** A vote whose time Gerrit does not say is neither older nor newer. */
function ageCondition(age: number, isWanted: boolean): Condition {
  return ({ at }, now) => at !== null && isOlder(at, age, now) === isWanted;
}

function requirementText(
  { username, email, 'older-than': olderThan, 'newer-than': newerThan }: ApprovalRequirement,
  label: string | undefined,
  values: readonly number[] = [],
): string {
  return [
    label === undefined ? 'a vote' : `${label} ${values.map(signed).join(' or ')}`,
    username === undefined ? '' : `by ${plainName(username)}`,
    email === undefined ? '' : `by an e-mail address ${compilePattern(email, 'search').text}`,
    olderThan === undefined ? '' : `more than ${olderThan} s ago`,
    newerThan === undefined ? '' : `less than ${newerThan} s ago`,
  ]
    .filter(part => part !== '')
    .join(' ');
}

/** `zuul` of `^zuul$`; `a user zuul|bob` of what says more than one name. */
function plainName(source: Pattern): string {
  const name = typeof source === 'string' ? /^\^([\w-]+)\$$/.exec(source)?.[1] : undefined;
  return name ?? `a user ${compilePattern(source, 'search').text}`;
}

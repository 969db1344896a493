/**
 * `trigger: {gerrit: [{event: patchset-created}, {event: comment-added, approval: {Workflow: 1}}, {event: ref-updated, ref: ^refs/tags/}]}`
 *
 * The words are Zuul's, its former spellings included, which are stored as those of today: `comment_filter`, `email_filter`,
 * `username_filter`, `require-approval`, `reject-approval`. Where Zuul takes a combination that no event can match, it is refused here.
 * Ours are the events `change-deleted`, `reviewer-deleted`, `topic-changed` and `private-state-changed`.
 *
 * `draft-published` and `pending-check` are taken, with `uuid` and `scheme`, so that a configuration of Zuul loads: no Gerrit since 2.15
 * has drafts, and the checks plug-in has been given up.
 */
import type { ParseResult } from '../../../src/driver/parse-result.ts';
import type { Pattern } from '../../../src/driver/pattern.ts';
import { isMapping, type Mapping, readMapping } from '../../../src/driver/read-mapping.ts';
import type { Json } from '../../../src/model/job.ts';
import { type GerritRequirement, parseGerritRequirement } from './requirement-config.ts';
import { isLabelName, readVoteValue } from './vote-value.ts';

/** Gerrit's names. */
const EVENTS = [
  'patchset-created',
  'change-abandoned',
  'change-restored',
  'change-merged',
  'change-deleted',
  'comment-added',
  'vote-deleted',
  'reviewer-deleted',
  'hashtags-changed',
  'topic-changed',
  'wip-state-changed',
  'private-state-changed',
  'ref-updated',
  'draft-published',
  'pending-check',
] as const;

type EventName = (typeof EVENTS)[number];

/** Keys that look at something only these events have. */
const NEEDS = {
  comment: ['comment-added'],
  approval: ['comment-added', 'vote-deleted', 'reviewer-deleted'],
  'approval-change': ['comment-added', 'vote-deleted', 'reviewer-deleted'],
  added: ['hashtags-changed'],
  removed: ['hashtags-changed'],
  uuid: ['pending-check'],
  scheme: ['pending-check'],
} as const satisfies { readonly [key: string]: readonly EventName[] };

/** A ref that is read, and a change that is gone, do not say who it was: filters on accounts match nothing there. */
const BY_UNKNOWN: readonly EventName[] = ['ref-updated', 'change-deleted'];

/** Zuul's spelling of today, by its former one. */
const FORMER = { comment_filter: 'comment', email_filter: 'email', username_filter: 'username' } as const;

/** Values by label. Of a label that is written twice the last one counts, as in Zuul. */
type TriggerVotes = { readonly [label: string]: number };

/** Empty lists and mappings: any. */
export type GerritTrigger = {
  readonly event: readonly EventName[];
  readonly branch: readonly Pattern[];
  readonly ref: readonly Pattern[];
  readonly comment: readonly Pattern[];
  readonly email: readonly Pattern[];
  readonly username: readonly Pattern[];
  readonly approval: TriggerVotes;
  readonly 'approval-change': TriggerVotes;
  readonly added: readonly Pattern[];
  readonly removed: readonly Pattern[];
  /** Default true: a branch or tag that is deleted triggers nothing. */
  readonly 'ignore-deletes'?: false;
  readonly require?: GerritRequirement;
  readonly reject?: GerritRequirement;
};

const NO_DEBUG = '"debug" has no effect: what decided is always kept, see gatehouse why';

const KEYS = [
  'event',
  'branch',
  'ref',
  'ignore-deletes',
  'email',
  'username',
  'debug',
  ...Object.keys(NEEDS),
  'require',
  'reject',
];

/** See `DriverConfigLanguage`; what it returns parses to itself. `event` is the only key that must be there. */
export function parseGerritTrigger(value: Json): ParseResult<GerritTrigger> {
  const given = modern(value);
  const mapping = readMapping(given, KEYS, 'a trigger of a Gerrit connection');
  const event = mapping.choices('event', EVENTS);
  if (!isMapping(given) || isEmpty(given.event))
    mapping.refuse([], 'missing-key', `a trigger of a Gerrit connection needs "event": ${EVENTS.join(', ')}`);
  refuseUseless(mapping, given, event);
  if (mapping.boolean('debug') === true) mapping.warn(['debug'], 'no-effect', NO_DEBUG);
  mapping.strings('uuid');
  mapping.strings('scheme');
  return mapping.result({
    event,
    branch: mapping.patterns('branch'),
    ref: mapping.patterns('ref'),
    comment: mapping.patterns('comment'),
    email: mapping.patterns('email'),
    username: mapping.patterns('username'),
    approval: votes(mapping, 'approval'),
    'approval-change': votes(mapping, 'approval-change'),
    added: mapping.patterns('added'),
    removed: mapping.patterns('removed'),
    ...(mapping.boolean('ignore-deletes') === false ? { 'ignore-deletes': false } : {}),
    ...condition(mapping, 'require'),
    ...condition(mapping, 'reject'),
  });
}

/** A former word counts where the one of today does not stand beside it. */
function modern(value: Json): Json {
  if (!isMapping(value)) return value;
  const { 'require-approval': needed, 'reject-approval': refused, ...rest } = value;
  const renamed: { [key: string]: Json } = {};
  for (const [key, each] of Object.entries(rest)) {
    const name = Object.entries(FORMER).find(([former]) => former === key)?.[1];
    if (name === undefined) renamed[key] = each;
    else if (rest[name] === undefined) renamed[name] = each;
  }
  return {
    ...renamed,
    ...formerApproval(needed, 'require', renamed.require),
    ...formerApproval(refused, 'reject', renamed.reject),
  };
}

function formerApproval(former: Json | undefined, key: string, current: Json | undefined) {
  const isIgnored = former === undefined || former === null || (current !== undefined && current !== null);
  return isIgnored ? {} : { [key]: { approval: former } };
}

function votes(mapping: Mapping, key: 'approval' | 'approval-change'): TriggerVotes {
  return Object.fromEntries(mapping.each(key, parseVotes).flatMap(Object.entries<number>));
}

function parseVotes(value: Json): ParseResult<TriggerVotes> {
  if (!isMapping(value))
    return invalid([], 'wrong-type', 'an approval is a mapping of labels and values, e.g. {Workflow: 1}');
  const parsed: { [label: string]: number } = {};
  for (const [label, each] of Object.entries(value)) {
    const read = readVoteValue(each);
    if (!isLabelName(label)) return invalid([label], 'unknown-key', `"${label}" is no name of a label`);
    if (read === undefined)
      return invalid([label], 'wrong-type', `the value of ${label} in an approval must be a whole number`);
    parsed[label] = read;
  }
  return { kind: 'ok', value: parsed };
}

function invalid(path: readonly string[], code: string, text: string): ParseResult<never> {
  return { kind: 'invalid', problems: [{ path, code, text }] };
}

function condition(
  mapping: Mapping,
  key: 'require' | 'reject',
): { readonly [key in 'require' | 'reject']?: GerritRequirement } {
  const [first, ...rest] = mapping.each(key, parseGerritRequirement);
  if (rest.length > 0) mapping.refuse([key], 'wrong-type', `"${key}" is one mapping, not several`);
  return first === undefined ? {} : { [key]: first };
}

/** Refuses what no event can match. */
function refuseUseless(mapping: Mapping, given: Json, event: readonly EventName[]): void {
  if (!isMapping(given) || event.length === 0) return;
  for (const [key, takers] of Object.entries(NEEDS)) {
    if (isEmpty(given[key]) || takers.some(taker => event.includes(taker))) continue;
    mapping.refuse(
      [key],
      'wrong-event',
      `"${key}" goes with ${takers.join(' or ')}, not with ${event.join(' or ')}`,
    );
  }
  if (!event.every(each => BY_UNKNOWN.includes(each))) return;
  for (const key of ['email', 'username'].filter(each => !isEmpty(given[each])))
    mapping.refuse(
      [key],
      'wrong-event',
      `"${key}" matches no ${event.join(' or ')}: Gerrit does not say by whom`,
    );
}

function isEmpty(value: Json | undefined): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return value === undefined || (isMapping(value) && Object.keys(value).length === 0);
}

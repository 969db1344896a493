/**
 * `trigger: {github: [{event: pull_request, action: comment, comment: (?i)^recheck$}, {event: push, ref: ^refs/tags/v}]}`
 *
 * The words are Zuul's. Where Zuul takes a combination that no event can match, with a warning or without, it is refused here; a state that
 * no review has is a warning, as in Zuul, and matches none.
 * Ours are the actions `edited`, `ready_for_review` and `converted_to_draft`, the event `merge_group`, and `ignore-deletes`.
 */
import type { ParseResult } from '../../../src/driver/parse-result.ts';
import type { Pattern } from '../../../src/driver/pattern.ts';
import { isMapping, type Mapping, readMapping } from '../../../src/driver/read-mapping.ts';
import { didYouMean } from '../../../src/lib/nearest-name.ts';
import type { Json } from '../../../src/model/job.ts';
import type { GithubEventFacts } from './event-facts.ts';
import { type GithubRequirement, parseGithubRequirement } from './requirement-config.ts';

type Action = GithubEventFacts['action'];

/** The actions of each event. */
const ACTIONS = {
  pull_request: [
    'opened',
    'changed',
    'closed',
    'reopened',
    'comment',
    'labeled',
    'unlabeled',
    'status',
    'edited',
    'ready_for_review',
    'converted_to_draft',
  ],
  pull_request_review: ['submitted', 'dismissed'],
  check_run: ['rerequested', 'completed'],
  push: [],
  merge_group: [],
} as const satisfies { readonly [event: string]: readonly Action[] };

type EventName = keyof typeof ACTIONS;
const EVENTS = Object.keys(ACTIONS) as EventName[];

/** Keys that look at something only these actions have; of `push` and `merge_group`, which have no action, the events. */
const NEEDS = {
  comment: ['comment'],
  label: ['labeled', 'unlabeled'],
  unlabel: ['unlabeled'],
  status: ['status'],
  state: ['submitted', 'dismissed'],
  check: ['rerequested', 'completed'],
  ref: ['push', 'merge_group'],
  'ignore-deletes': ['push'],
} as const;

const STATES = ['approved', 'commented', 'changes_requested', 'dismissed', 'pending'] as const;

/** Empty lists: any. */
export type GithubTrigger = {
  readonly event: readonly EventName[];
  readonly action: readonly (typeof ACTIONS)[EventName][number][];
  readonly branch: readonly Pattern[];
  readonly comment: readonly Pattern[];
  readonly label: readonly string[];
  readonly unlabel: readonly string[];
  /** Also states that no review has. */
  readonly state: readonly string[];
  readonly status: readonly Pattern[];
  readonly check: readonly Pattern[];
  readonly ref: readonly Pattern[];
  /** Default true: a branch or tag that is deleted triggers nothing. */
  readonly 'ignore-deletes'?: false;
  readonly require?: GithubRequirement;
  readonly reject?: GithubRequirement;
};

const NO_DEBUG = '"debug" has no effect: what decided is always kept, see gatehouse why';

const KEYS = [
  'event',
  'action',
  'branch',
  'debug',
  ...Object.keys(NEEDS),
  'require-status',
  'require',
  'reject',
];

/** See `DriverConfigLanguage`; what it returns parses to itself. `event` is the only key that must be there. */
export function parseGithubTrigger(value: Json): ParseResult<GithubTrigger> {
  const given = modern(value);
  const mapping = readMapping(given, KEYS, 'a trigger of a GitHub connection');
  const event = mapping.choices('event', EVENTS);
  if (!isMapping(given) || given.event === undefined)
    mapping.refuse([], 'missing-key', `a trigger of a GitHub connection needs "event": ${EVENTS.join(', ')}`);
  const action = mapping.choices(
    'action',
    EVENTS.flatMap((each): readonly (typeof ACTIONS)[EventName][number][] => ACTIONS[each]),
  );
  refuseUseless(mapping, given, event, action);
  if (mapping.boolean('debug') === true) mapping.warn(['debug'], 'no-effect', NO_DEBUG);
  return mapping.result({
    event,
    action,
    branch: mapping.patterns('branch'),
    comment: mapping.patterns('comment'),
    label: mapping.strings('label'),
    unlabel: mapping.strings('unlabel'),
    state: statesOf(mapping),
    status: mapping.patterns('status'),
    check: mapping.patterns('check'),
    ref: mapping.patterns('ref'),
    ...(mapping.boolean('ignore-deletes') === false ? { 'ignore-deletes': false } : {}),
    ...condition(mapping, 'require'),
    ...condition(mapping, 'reject'),
  });
}

/** Sites have `request_changes` here, in triggers beside others that work. */
function statesOf(mapping: Mapping): readonly string[] {
  const states = mapping.strings('state');
  for (const state of states) {
    if (STATES.some(each => each === state)) continue;
    const hint = didYouMean(state, STATES) || `; there are: ${STATES.join(', ')}`;
    mapping.warn(['state'], 'unknown-value', `no review has the state "${state}", so it matches none${hint}`);
  }
  return states;
}

/** Zuul's former words in those of today: `requested`, and `require-status`, which `require` replaces. */
function modern(value: Json): Json {
  if (!isMapping(value)) return value;
  const { 'require-status': status, ...rest } = value;
  const renamed = rest.action === 'requested' ? { ...rest, action: 'rerequested' } : rest;
  return status === undefined || renamed.require !== undefined
    ? renamed
    : { ...renamed, require: { status } };
}

function condition(
  mapping: Mapping,
  key: 'require' | 'reject',
): { readonly [key in 'require' | 'reject']?: GithubRequirement } {
  const [found] = mapping.each(key, parseGithubRequirement);
  return found === undefined ? {} : { [key]: found };
}

/** Refuses what no event can match. */
function refuseUseless(
  mapping: Mapping,
  given: Json,
  event: readonly EventName[],
  action: readonly string[],
): void {
  const possible: readonly string[] = event.flatMap(each => [each, ...ACTIONS[each]]);
  if (possible.length === 0) return;
  for (const each of action) {
    if (!possible.includes(each))
      mapping.refuse(['action'], 'wrong-event', `${event.join(' and ')} has no action ${each}`);
  }
  for (const [key, takers] of Object.entries(NEEDS)) {
    if (!isMapping(given) || isEmpty(given[key])) continue;
    const stray = action.find(each => !takers.some(taker => taker === each));
    if (!takers.some(taker => possible.includes(taker)))
      mapping.refuse(
        [key],
        'wrong-event',
        `"${key}" goes with ${takers.join(' or ')}, not with ${event.join(' or ')}`,
      );
    else if (stray !== undefined)
      mapping.refuse(
        [key],
        'wrong-action',
        `"${key}" goes with ${takers.join(' or ')}: with it, ${stray} would never match; write two triggers`,
      );
  }
}

function isEmpty(value: Json | undefined): boolean {
  return value === undefined || (Array.isArray(value) && value.length === 0);
}

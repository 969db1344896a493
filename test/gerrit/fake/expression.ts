/**
 * Gerrit's query language as far as a driver asks in it, and submit requirements are written in it:
 * operators, AND (or nothing between two), OR, `-` and NOT, parentheses, quotes with `"` or braces.
 */
import { seesChange } from './authority.ts';
import { RestRefused } from './rest-refused.ts';
import { isSubmittable } from './submittable.ts';
import {
  type ChangeState,
  currentPatchSet,
  type FakeAccount,
  type FakeChange,
  type GerritWorld,
  subjectOf,
  votesOn,
} from './world.ts';

type Expression =
  | { readonly kind: 'all' | 'any'; readonly of: readonly Expression[] }
  | { readonly kind: 'not'; readonly of: Expression }
  | { readonly kind: 'is'; readonly operator: string; readonly value: string };

/** Operators that are none of a change: they shape the answer. */
const OF_THE_ANSWER = new Set(['limit']);

export interface Candidate {
  readonly world: GerritWorld;
  readonly change: FakeChange;
  readonly state: ChangeState;
  readonly viewer: FakeAccount | null;
}

/** @throws RestRefused as Gerrit refuses a query it cannot read */
export function compileQuery(text: string): {
  matches(candidate: Candidate): boolean;
  readonly limit: number | null;
} {
  const expression = parse(text);
  let limit: number | null = null;
  const walk = (each: Expression): void => {
    if (each.kind === 'is') {
      if (each.operator === 'limit') limit = Number(each.value);
      else check(each.operator, each.value);
    } else if (each.kind === 'not') walk(each.of);
    else each.of.forEach(walk);
  };
  walk(expression);
  return { matches: candidate => holds(expression, candidate), limit };
}

export function matchesExpression(
  world: GerritWorld,
  change: FakeChange,
  state: ChangeState,
  text: string,
): boolean {
  return holds(parse(text), { world, change, state, viewer: change.owner });
}

function parse(text: string): Expression {
  const tokens = text.match(/\(|\)|-?(?:[\w-]+:)?(?:"[^"]*"|\{[^}]*\}|[^\s()"]+)/g) ?? [];
  let at = 0;
  const any = (): Expression => {
    const of = [all()];
    while (tokens[at] === 'OR') {
      at++;
      of.push(all());
    }
    return of.length === 1 && of[0] !== undefined ? of[0] : { kind: 'any', of };
  };
  const all = (): Expression => {
    const of: Expression[] = [];
    while (at < tokens.length && tokens[at] !== ')' && tokens[at] !== 'OR') {
      if (tokens[at] === 'AND') at++;
      else of.push(one());
    }
    return of.length === 1 && of[0] !== undefined ? of[0] : { kind: 'all', of };
  };
  const one = (): Expression => {
    const token = tokens[at++] ?? '';
    if (token === 'NOT' || token === '-') return { kind: 'not', of: one() };
    if (token === '(') {
      const inner = any();
      if (tokens[at++] !== ')') throw new RestRefused(400, `line 1: missing closing parenthesis in ${text}`);
      return inner;
    }
    if (token.startsWith('-')) return { kind: 'not', of: operator(token.slice(1)) };
    return operator(token);
  };
  const found = any();
  if (at < tokens.length)
    throw new RestRefused(400, `line 1:${at} no viable alternative at input '${tokens[at]}'`);
  return found;
}

function operator(token: string): Expression {
  const found = /^([\w-]+):(.*)$/s.exec(token);
  const plain = (value: string) => value.replace(/^"(.*)"$/s, '$1').replace(/^\{(.*)\}$/s, '$1');
  if (found !== null) return { kind: 'is', operator: found[1] ?? '', value: plain(found[2] ?? '') };
  return { kind: 'is', operator: '', value: plain(token) };
}

function holds(expression: Expression, candidate: Candidate): boolean {
  switch (expression.kind) {
    case 'all':
      return expression.of.every(each => holds(each, candidate));
    case 'any':
      return expression.of.some(each => holds(each, candidate));
    case 'not':
      return !holds(expression.of, candidate);
    default:
      return OF_THE_ANSWER.has(expression.operator) || test(expression.operator, expression.value, candidate);
  }
}

type Test = (value: string, candidate: Candidate) => boolean;

const since: Test = (value, { state }) => Math.trunc(state.updatedAt / 1000) * 1000 >= timeOf(value);
const before: Test = (value, { state }) => Math.trunc(state.updatedAt / 1000) * 1000 <= timeOf(value);

const OPERATORS: { readonly [name: string]: Test } = {
  since,
  after: since,
  before,
  until: before,
  age: (value, { state, world }) => world.now() - state.updatedAt >= ageOf(value),
  change: (value, { change, state }) => names(value, change, state),
  commit: (value, { state }) => state.patchSets.some(each => each.commit.startsWith(value)),
  project: (value, { change }) => change.project.name === value,
  p: (value, { change }) => change.project.name === value,
  projects: (value, { change }) => change.project.name.startsWith(value),
  branch: (value, { state }) => state.branch === value.replace(/^refs\/heads\//, ''),
  ref: (value, { state }) => `refs/heads/${state.branch}` === value,
  topic: (value, { state }) => (state.topic ?? '') === value,
  intopic: (value, { state }) => state.topic?.includes(value) ?? false,
  hashtag: (value, { state }) => state.hashtags.some(each => each.toLowerCase() === value.toLowerCase()),
  message: (value, { state }) => hasPhrase(currentPatchSet(state).message, value),
  subject: (value, { state }) => hasPhrase(subjectOf(state), value),
  owner: (value, { change, viewer }) => isAccount(value, change.owner, viewer),
  reviewer: (value, { state, viewer }) =>
    [...state.reviewers.values()].some(
      each => each.state === 'REVIEWER' && isAccount(value, each.account, viewer),
    ),
  label: (value, { change, state, viewer }) => hasVote(value, change, state, viewer),
  status: (value, candidate) => hasStatus(value, candidate),
  is: (value, candidate) => hasStatus(value, candidate),
};

function check(name: string, value: string): void {
  if (name === '' || name in OPERATORS) return;
  throw new RestRefused(400, `Unsupported operator ${name}:${value}`);
}

function test(name: string, value: string, candidate: Candidate): boolean {
  if (name === '') return names(value, candidate.change, candidate.state);
  return OPERATORS[name]?.(value, candidate) ?? false;
}

function names(value: string, change: FakeChange, state: ChangeState): boolean {
  if (/^\d+$/.test(value)) return change.number === Number(value);
  const [project, branch, id] = value.split('~');
  if (id !== undefined)
    return (
      change.project.name === decodeURIComponent(project ?? '') &&
      state.branch === branch &&
      change.changeId === id
    );
  return change.changeId.startsWith(value);
}

function hasStatus(value: string, { world, change, state, viewer }: Candidate): boolean {
  switch (value.toLowerCase()) {
    case 'open':
    case 'pending':
    case 'new':
      return state.status === 'NEW';
    case 'closed':
      return state.status !== 'NEW';
    case 'merged':
      return state.status === 'MERGED';
    case 'abandoned':
      return state.status === 'ABANDONED';
    case 'submittable':
      return isSubmittable(world, change, state);
    case 'wip':
      return state.wip;
    case 'private':
      return state.private;
    case 'visible':
      return seesChange(viewer, change);
    case 'reviewer':
      return viewer !== null && state.reviewers.has(viewer.username);
    case 'owner':
      return change.owner === viewer;
    default:
      throw new RestRefused(400, `Unrecognized value: ${value}`);
  }
}

/** `Verified=MAX`, `Code-Review>=1`, `Verified+2,gatehouse`, `Verified=+1,user=gatehouse`. */
function hasVote(text: string, change: FakeChange, state: ChangeState, viewer: FakeAccount | null): boolean {
  const found = /^([\w-]+?)(=|>=|<=|>|<|(?=[+-]\d))([+-]?\d+|MAX|MIN|ANY|ok|need)(?:,(?:user=)?(.*))?$/.exec(
    text,
  );
  if (found === null) return false;
  const [, label = '', sign = '=', wanted = '', user] = found;
  const type = change.project.labels.find(each => each.name.toLowerCase() === label.toLowerCase());
  if (type === undefined) return false;
  const scale = Object.keys(type.values).map(Number);
  const votes = votesOn(state)
    .filter(vote => vote.label === type.name && (user === undefined || isAccount(user, vote.by, viewer)))
    .map(vote => vote.value);
  if (wanted === 'ANY') return votes.length > 0;
  const number =
    wanted === 'MAX' ? Math.max(...scale) : wanted === 'MIN' ? Math.min(...scale) : Number(wanted);
  const all = votes.length === 0 ? [0] : votes;
  switch (sign) {
    case '>=':
      return all.some(each => each >= number);
    case '<=':
      return all.some(each => each <= number);
    case '>':
      return all.some(each => each > number);
    case '<':
      return all.some(each => each < number);
    default:
      return all.some(each => each === number);
  }
}

function isAccount(value: string, account: FakeAccount, viewer: FakeAccount | null): boolean {
  if (value === 'self' || value === 'me') return account === viewer;
  return [account.username, account.email, account.name, String(account.id)].includes(value);
}

/** The index keeps words: what stands between them does not count. */
function hasPhrase(text: string, phrase: string): boolean {
  const words = (each: string) => ` ${(each.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' ')} `;
  return words(text).includes(words(phrase));
}

function timeOf(value: string): number {
  const found = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d:\d\d)(?:\.(\d{3})\d*)?(?: ?([+-]\d{4}))?)?$/.exec(value);
  if (found === null) throw new RestRefused(400, `Unable to parse date: ${value}`);
  const [, day, time = '00:00:00', ms = '000', zone = '+0000'] = found;
  return Date.parse(`${day}T${time}.${ms}${zone.slice(0, 3)}:${zone.slice(3)}`);
}

const UNITS: { readonly [unit: string]: number } = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

function ageOf(value: string): number {
  const found = /^(\d+) ?([smhdw])\w*$/.exec(value);
  if (found === null) throw new RestRefused(400, `Invalid age: ${value}`);
  return Number(found[1]) * (UNITS[found[2] ?? 's'] ?? 1) * 1000;
}

/**
 * Whether the expression of a submit requirement will hold once a pipeline has voted.
 *
 *     label:Code-Review=MAX,user=non_uploader AND -label:Code-Review=MIN
 *
 * Gerrit's query language with AND, OR, NOT, `-`, brackets and `field:value`. Terms about labels are judged by the votes; all others,
 * and arguments of labels that are not known here, are neither true nor false.
 */
import type { Approval, GerritFacts } from '../facts.ts';
import type { PlannedVote } from './submit-case.ts';

/** Null: it depends on what is not known here. */
export type Truth = boolean | null;

/** The change with the votes that it will have. */
type Voted = Pick<GerritFacts, 'approvals' | 'labels' | 'uploader'> & {
  readonly planned: readonly PlannedVote[];
};

/** @returns undefined: it is not an expression of this language, or was cut. */
export function judgeExpression(expression: string, voted: Voted): Truth | undefined {
  const tokens = expression.match(TOKEN) ?? [];
  const reader: Reader = { tokens, at: 0, voted };
  const truth = readAny(reader);
  return truth === undefined || reader.at < tokens.length ? undefined : truth;
}

/** A minus only before what it negates. */
const TOKEN =
  /\(|\)|-(?=[A-Za-z(])|(?:AND|OR|NOT)(?=[\s()])|[A-Za-z_]+:(?:"[^"]*"|\{[^}]*\}|[^\s()]+)|[^\s()]+/g;

interface Reader {
  readonly tokens: readonly string[];
  at: number;
  readonly voted: Voted;
}

/** `a OR b`, or one of them. */
function readAny(reader: Reader): Truth | undefined {
  const found = [readAll(reader)];
  while (reader.tokens[reader.at] === 'OR') {
    reader.at += 1;
    found.push(readAll(reader));
  }
  if (found.includes(undefined)) return undefined;
  return found.includes(true) ? true : found.includes(null) ? null : false;
}

/** `a AND b`, or `a b`. */
function readAll(reader: Reader): Truth | undefined {
  const found = [readOne(reader)];
  for (;;) {
    const next = reader.tokens[reader.at];
    if (next === undefined || next === 'OR' || next === ')') break;
    if (next === 'AND') reader.at += 1;
    found.push(readOne(reader));
  }
  if (found.includes(undefined)) return undefined;
  return found.includes(false) ? false : found.includes(null) ? null : true;
}

function readOne(reader: Reader): Truth | undefined {
  const token = reader.tokens[reader.at];
  reader.at += 1;
  if (token === undefined || token === ')' || token === 'AND' || token === 'OR') return undefined;
  if (token === '-' || token === 'NOT') {
    const found = readOne(reader);
    return typeof found === 'boolean' ? !found : found;
  }
  if (token !== '(') return token.startsWith('label:') ? judgeLabel(token.slice(6), reader.voted) : null;
  const inner = readAny(reader);
  if (reader.tokens[reader.at] !== ')') return undefined;
  reader.at += 1;
  return inner;
}

/** A vote that the term is compared with. */
interface Candidate {
  readonly value: number;
  /** False: it may be an earlier one of ours, and then the planned vote takes its place. */
  readonly stays: boolean;
  /** Account; null: not known, or ours, which uploads nothing. */
  readonly by: number | null;
}

const LABEL = /^([A-Za-z0-9][A-Za-z0-9-]*?)(?:(>=|<=|=|>|<)([+-]?\d+|MAX|MIN|ANY)|([+-]\d+))((?:,[^,]+)*)$/;

/** @param source e.g. `Verified=MAX`, `Code-Review>=1,user=non_uploader`. */
function judgeLabel(source: string, voted: Voted): Truth {
  const parts = LABEL.exec(source.replaceAll(/["{}]/g, ''));
  if (parts === null) return null;
  const [, label = '', operator = '=', named, signed, args = ''] = parts;
  const wanted = named ?? signed ?? '';
  const others = args.split(',').filter(each => each !== '' && each !== 'user=non_uploader');
  const isNotUploader = args.includes('user=non_uploader');
  const max = voted.labels.find(({ name }) => name === label)?.max ?? null;
  // Labels without a vote are at 0.
  if (compare(0, operator, wanted, max) !== false) return null;
  const found = candidates(label, voted)
    .filter(({ by }) => !isNotUploader || by === null || by !== voted.uploader.id)
    .map(({ value, stays }) => {
      const truth = compare(value, operator, wanted, max);
      return truth === true && (!stays || others.length > 0) ? null : truth;
    });
  return found.includes(true) ? true : found.includes(null) ? null : false;
}

function candidates(label: string, { approvals, planned }: Voted): readonly Candidate[] {
  const ours = planned.filter(each => each.label === label);
  const given = approvals.filter((each: Approval) => each.label === label);
  return [
    ...ours.map(({ value }) => ({ value, stays: true, by: null })),
    ...given.map(({ value, by }) => ({ value, stays: ours.length === 0, by: by.id })),
  ];
}

/** @param max of the label; null: not known. The lowest value is not known, but is seldom above the highest with a minus. */
function compare(value: number, operator: string, wanted: string, max: number | null): Truth {
  if (wanted === 'ANY') return value !== 0;
  if (wanted === 'MIN') return value >= 0 ? false : max !== null && value <= -max ? true : null;
  const number = wanted === 'MAX' ? max : Number(wanted);
  if (number === null) return value <= 0 ? false : null;
  switch (operator) {
    case '=':
      return value === number;
    case '>=':
      return value >= number;
    case '>':
      return value > number;
    case '<=':
      return value <= number;
    default:
      return value < number;
  }
}

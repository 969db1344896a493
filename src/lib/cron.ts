/**
 * Times of a timer, as Zuul writes them: five to seven fields in the syntax of APScheduler.
 *
 *     minute hour day-of-month month day-of-week [second [jitter]]
 *
 * A field is `*`, a number, a range, a step, or a list of them. Unlike in cron Monday is 0 and Sunday is 6, a day has to match both of its fields,
 * and a number with a step (`5/20`) counts from that number on. Croner computes the times; here the fields become lists of numbers, which mean
 * the same to both.
 */
import { Cron as Croner } from 'croner';

/** One timer's times, in the time zone of the process. */
export interface CronTimes {
  /** Seconds by which each branch may be late, all the same one; 0: none. */
  readonly jitter: number;
  /** The first time after `after`; null: there is none. Both in milliseconds since the Unix epoch. */
  next(after: number): number | null;
}

type CronResult =
  | { readonly kind: 'cron'; readonly times: CronTimes }
  | { readonly kind: 'invalid'; readonly reason: string };

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
  /** The number by which Croner knows the first one. */
  readonly offset?: number;
  /** `last` is a value. */
  readonly hasLast?: true;
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

const SECOND: Field = { name: 'second', min: 0, max: 59 };
/** In the order in which they are written. */
const FIELDS: readonly Field[] = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of month', min: 1, max: 31, hasLast: true },
  { name: 'month', min: 1, max: 12, names: MONTHS },
  { name: 'day of week', min: 0, max: 6, names: DAYS, offset: 1 },
];

/** Seconds: a day. */
const MOST_JITTER = 86_400;

/** Times within the jitter: to find the next moment of a branch, all of them are looked at. */
const MOST_WITHIN_JITTER = 200;
/** From where times are tried out: the year of a leap day. */
const TRIED_FROM = Date.UTC(2024, 0, 1);

/** @param text e.g. `0 3 * * mon-fri`. @param timezone IANA name. Default: that of the process. */
export function parseCron(text: string, timezone?: string): CronResult {
  const parts = text.split(/\s+/).filter(part => part !== '');
  if (parts.length < 5 || parts.length > 7)
    return invalid(
      `it has ${parts.length} fields; write minute hour day month day-of-week [second [jitter]]`,
    );
  const fields: string[] = [];
  for (const [index, field] of [...FIELDS, SECOND].entries()) {
    const read = readField(parts[index] ?? '0', field);
    if ('reason' in read) return invalid(read.reason);
    fields.push(read.list);
  }
  const jitter = parts[6] ?? '0';
  if (!/^\d{1,5}$/.test(jitter) || Number(jitter) > MOST_JITTER)
    return invalid(`jitter "${jitter}" is not a number of seconds up to ${MOST_JITTER}`);
  const [minute, hour, day, month, weekday, second] = fields;
  const croner = new Croner(`${second} ${minute} ${hour} ${day} ${month} ${weekday}`, {
    paused: true,
    mode: '6-part',
    domAndDow: true,
    ...(timezone === undefined ? {} : { timezone }),
  });
  const next: CronTimes['next'] = after => croner.nextRun(new Date(after))?.getTime() ?? null;
  const times = { jitter: Number(jitter), next };
  const reason = refusalOf(times);
  return reason === undefined ? { kind: 'cron', times } : invalid(reason);
}

/** A timer that would cost its scheduler too much at each moment. */
function refusalOf({ jitter, next }: CronTimes): string | undefined {
  const first = jitter === 0 ? null : next(TRIED_FROM);
  if (first === null) return undefined;
  let within = 1;
  for (let at = next(first); at !== null && at <= first + jitter * 1_000; at = next(at)) {
    if (within === MOST_WITHIN_JITTER)
      return `it is due more than ${MOST_WITHIN_JITTER} times within its jitter of ${jitter} seconds; shorten the jitter`;
    within += 1;
  }
  return undefined;
}

function invalid(reason: string): CronResult {
  return { kind: 'invalid', reason };
}

type ReadField = { readonly list: string } | { readonly reason: string };

function readField(text: string, field: Field): ReadField {
  const numbers = new Set<number>();
  let last = false;
  for (const part of text.toLowerCase().split(',')) {
    if (part === 'last' && field.hasLast === true) {
      last = true;
      continue;
    }
    const range = rangeOf(part, field);
    if (range === undefined)
      return { reason: `"${part}" is no ${field.name}: numbers are ${field.min} to ${field.max}` };
    for (let number = range.from; number <= range.to; number += range.step) numbers.add(number);
  }
  if (numbers.size === field.max - field.min + 1) return { list: '*' };
  const sorted = [...numbers].toSorted((a, b) => a - b).map(number => `${number + (field.offset ?? 0)}`);
  return { list: [...sorted, ...(last ? ['L'] : [])].join(',') };
}

/** Undefined: it is none, or it is empty. */
function rangeOf(part: string, field: Field) {
  const { min, max, names } = field;
  const named = /^([a-z]+)(?:-([a-z]+))?$/.exec(part);
  if (named !== null) {
    const from = (names?.indexOf(named[1] ?? '') ?? -1) + min;
    const to = named[2] === undefined ? from : (names?.indexOf(named[2]) ?? -1) + min;
    return bounded(from, to, 1, field);
  }
  const numbered = /^(?:\*|(\d+)(?:-(\d+))?)(?:\/(\d+))?$/.exec(part);
  if (numbered === null) return undefined;
  const [, first, end, every] = numbered;
  const from = first === undefined ? min : Number(first);
  const alone = first !== undefined && end === undefined && every === undefined;
  const to = end === undefined ? (alone ? from : max) : Number(end);
  const step = every === undefined ? 1 : Number(every);
  // As in APScheduler, a step that never comes is a mistake.
  return every !== undefined && step > to - from ? undefined : bounded(from, to, step, field);
}

function bounded(from: number, to: number, step: number, { min, max }: Field) {
  return from < min || to > max || from > to || step < 1 ? undefined : { from, to, step };
}

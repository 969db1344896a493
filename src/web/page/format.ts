/** Words and numbers for people. */

/** `420 ms`, `2.4 s`, `32 s`, `2m 05s`, `1h 04m`, `3d 2h`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (ms < 950) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 9950) return `${(ms / 1000).toFixed(1)} s`;
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${two(seconds % 60)}s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours}h ${two(minutes % 60)}m`;
  return `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

/** {@link duration} of a decimal text of nanoseconds. */
export function durationOf(nanoseconds: string): string {
  return duration(millisecondsOf(nanoseconds));
}

/** As `duration`, but in whole seconds: for running clocks. */
export function elapsed(ms: number): string {
  return ms < 10_000 ? `${Math.max(0, Math.round(ms / 1000))} s` : duration(ms);
}

/** `17:53:01` today, `20 Nov, 17:53:01` on another day, in the reader's time zone. @param ms since the epoch. @param now this machine's time. */
export function clock(ms: number, now = Date.now()): string {
  const [time, today] = [new Date(ms), new Date(now)];
  const isToday = time.toDateString() === today.toDateString();
  return time.toLocaleString(undefined, {
    ...(isToday ? {} : { day: 'numeric', month: 'short' }),
    ...(time.getFullYear() === today.getFullYear() ? {} : { year: 'numeric' }),
    ...TIME,
  });
}

/** `17:53`, where the day is known. */
export function hourAndMinute(ms: number): string {
  return new Date(ms).toLocaleTimeString(undefined, { ...TIME, second: undefined });
}

const TIME = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;
const NEAR_MS = 5 * 60_000;
const HALF_A_DAY_MS = 12 * 3_600_000;

/** Times of day, in order: to the second where all are near, with the day where one is not. @param now, times ms since the epoch. */
export function timesOfDay<const Times extends readonly number[]>(
  times: Times,
  now: number,
): { readonly [Place in keyof Times]: string } {
  const apart = Math.max(...times.map(time => Math.abs(time - now)));
  const shown = times.map(time =>
    new Date(time).toLocaleString(undefined, {
      ...(apart < HALF_A_DAY_MS ? {} : { weekday: 'short', day: 'numeric', month: 'short' }),
      hour: '2-digit',
      minute: '2-digit',
      ...(apart < NEAR_MS ? { second: '2-digit' } : {}),
      hourCycle: 'h23',
    }),
  );
  return shown as { readonly [Place in keyof Times]: string };
}

/** For tooltips and for times that may be days ago. @param ms since the epoch. */
export function dateAndClock(ms: number): string {
  return new Date(ms).toLocaleString(undefined, {
    dateStyle: 'medium',
    timeStyle: 'medium',
    hourCycle: 'h23',
  });
}

/** `1 item`, `2 items`. @param many for words whose plural is not with an `s`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** @param share 0 to 1. */
export function percent(share: number): string {
  return share > 0 && share < 0.01 ? '<1 %' : `${Math.round(share * 100)} %`;
}

function two(number: number): string {
  return String(number).padStart(2, '0');
}

/** Milliseconds of a decimal text of nanoseconds. */
export function millisecondsOf(nanoseconds: string): number {
  return Number(BigInt(nanoseconds) / 1000n) / 1000;
}

const BAD = new Set([
  'FAILURE',
  'TIMED_OUT',
  'POST_FAILURE',
  'RETRY_LIMIT',
  'DISK_FULL',
  'NODE_FAILURE',
  'ERROR',
  'MERGE_CONFLICT',
  'MERGE_FAILURE',
  'CONFIG_ERROR',
  'FAILING',
]);

/** Class of a result in the stylesheets, as `is-<kind>`. */
export type ResultKind = 'good' | 'bad' | 'retry' | 'off' | 'open';

/** `good`, `bad`, `retry`, `off` (cancelled, skipped, dequeued) or, for null, `open`. */
export function resultKind(result: string | null | undefined): ResultKind {
  if (result === null || result === undefined) return 'open';
  if (result === 'SUCCESS') return 'good';
  if (BAD.has(result)) return 'bad';
  return result === 'RETRY' || result === 'SUPERSEDED' ? 'retry' : 'off';
}

/** One character, read by people who do not see colours; never the only carrier of the result. */
export function resultMark(kind: ResultKind): string {
  return { good: '✓', bad: '✕', retry: '↻', off: '–', open: '·' }[kind];
}

/** For people; a result without a word of its own is shown in lower case with blanks. */
export function resultWord(result: string | null): string {
  const words: { readonly [result: string]: string } = {
    SUCCESS: 'passed',
    FAILURE: 'failed',
    TIMED_OUT: 'timed out',
    CANCELED: 'cancelled',
    DEQUEUED: 'dequeued',
    FAILING: 'failing',
  };
  return words[String(result)] ?? String(result).toLowerCase().replaceAll('_', ' ');
}

/** What an item is called: the subject of its first change, else the change's name. */
export function itemTitle({
  changes,
}: {
  readonly changes: readonly { readonly subject?: string | null; readonly name: string }[];
}): string {
  const [change] = changes;
  return change?.subject ?? change?.name ?? '';
}

/** `?since=`: a time (RFC 3339) or an age (`24h`, `90m`, `7d`). */
import { addMilliseconds, fromMilliseconds, type Nanoseconds } from '../lib/clock.ts';
import { parseDuration } from '../lib/duration.ts';
import { isBefore } from '../lib/time-window.ts';

/** Limit of the period. Every answer names the period it covers. */
const LONGEST_DAYS = 400;
const DAY_MS = 86_400_000;
const RFC_3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;

/** @returns a clause that says what is wrong when `text` is neither. */
export function parseSince(
  text: string,
  now: Nanoseconds,
):
  | { readonly kind: 'since'; readonly since: Nanoseconds }
  | { readonly kind: 'wrong'; readonly reason: string } {
  const seconds = /^\d+$/.test(text) ? undefined : parseDuration(text);
  const moment = RFC_3339.test(text) ? Date.parse(text) : Number.NaN;
  if (seconds === undefined && Number.isNaN(moment)) {
    const reason = `${JSON.stringify(text.slice(0, 50))} is neither a time such as 2026-11-20T12:00:00Z nor a duration such as 24h`;
    return { kind: 'wrong', reason };
  }
  const earliest = addMilliseconds(now, -LONGEST_DAYS * DAY_MS);
  const since = seconds === undefined ? fromMilliseconds(moment) : addMilliseconds(now, -seconds * 1000);
  if (moment < 0 || isBefore(since, earliest))
    return { kind: 'wrong', reason: `it is more than ${LONGEST_DAYS} days ago` };
  return isBefore(since, now) ? { kind: 'since', since } : { kind: 'wrong', reason: 'it is not in the past' };
}

/** Whether an answer says that we ask too much, and until when. GitHub says it with several statuses and many sentences. */
import type { GithubHeaders } from './send.ts';

/** Times are milliseconds since the epoch. */
export interface GithubLimit {
  readonly by: 'primary' | 'secondary';
  /** Null: GitHub named no time. */
  readonly until: number | null;
}

/** Old and new texts of secondary limits; also those of single endpoints. */
const SECONDARY =
  /secondary rate limit|abuse detection|submitted too quickly|temporarily (?:blocked|been blocked) (?:from|due)|content creation|too many requests/i;
const PRIMARY = /rate limit exceeded|exceeded (?:a|the|your) rate limit/i;

/** Statuses of a limit; of the others the text alone counts. */
const STATUSES: ReadonlySet<number> = new Set([403, 429]);
/** Endpoints answer with these to content that was created too quickly. */
const WITH_TEXT: ReadonlySet<number> = new Set([200, 422]);

/** @param message of the body, or of a GraphQL error. @param now milliseconds. */
export function judgeLimit(
  status: number,
  headers: GithubHeaders,
  message: string,
  now: number,
): GithubLimit | undefined {
  const isTooMany = status === 429;
  if (!STATUSES.has(status) && !WITH_TEXT.has(status)) return undefined;
  if (SECONDARY.test(message)) return { by: 'secondary', until: retryTime(headers, now) };
  if (WITH_TEXT.has(status)) return undefined;
  const isEmpty = headers['x-ratelimit-remaining'] === '0';
  if (isEmpty || PRIMARY.test(message)) return { by: 'primary', until: resetTime(headers) };
  if (isTooMany || retryTime(headers, now) !== null)
    return { by: 'secondary', until: retryTime(headers, now) };
  return undefined;
}

/** `Retry-After`, in seconds or as a date. Null: absent, or no time. */
export function retryTime(headers: GithubHeaders, now: number): number | null {
  const text = headers['retry-after'];
  if (text === undefined) return null;
  if (/^\d{1,9}$/.test(text)) return now + Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : date;
}

/** `X-RateLimit-Reset`, in seconds since the epoch. */
export function resetTime(headers: GithubHeaders): number | null {
  const text = headers['x-ratelimit-reset'];
  return text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) * 1000 : null;
}

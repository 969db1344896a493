/** What an answer of the REST API means for the request, before any question of repetition. Pure. */
import type { HostTroubleReason } from '../../../src/model/host-trouble.ts';
import { hostText } from './host-text.ts';
import { type GithubLimit, judgeLimit, retryTime } from './judge-limit.ts';
import type { GithubHeaders, GithubRaw } from './send.ts';

/** Times are milliseconds since the epoch; texts are one line each, without secrets. */
export type GithubJudged =
  /** `next`: cursor of the next page. */
  | { readonly kind: 'ok'; readonly status: number; readonly data: unknown; readonly next?: string }
  /** 304. */
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'limited'; readonly limit: GithubLimit; readonly text: string }
  /** 401: the token expired, was revoked, or has not reached all of GitHub's machines yet. */
  | { readonly kind: 'unauthorized'; readonly text: string }
  /** The repository has another name or owner. */
  | { readonly kind: 'moved'; readonly location: string | null }
  /** Access is missing as a whole: no verdict on what was asked. */
  | { readonly kind: 'denied'; readonly text: string }
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly text: string;
      readonly errors: readonly string[];
    }
  /** `isSent`: a write may have happened. */
  | {
      readonly kind: 'outage';
      readonly reason: HostTroubleReason;
      readonly text: string;
      readonly until: number | null;
      readonly isSent: boolean;
    };

const MOVED: ReadonlySet<number> = new Set([301, 302, 307, 308]);
/** Of an organization or an installation, and not of what was asked for. */
const CLOSED =
  /suspended|IP allow list|SAML enforcement|OAuth App access restrictions|blocked by (?:github|staff)|billing|account was flagged/i;
/** Most entries of `errors`. */
const MOST_ERRORS = 20;

/** @param now milliseconds. */
export function judgeAnswer(raw: GithubRaw, now: number): GithubJudged {
  if (raw.kind === 'silent') {
    const { reason, text, isSent } = raw;
    return { kind: 'outage', reason, text, until: null, isSent };
  }
  const { status, headers, data } = raw;
  if (status === 304) return { kind: 'unchanged' };
  if (status < 300 && !isPage(data)) return { kind: 'ok', status, data, ...nextOf(headers) };
  if (MOVED.has(status) && !isPage(data)) return { kind: 'moved', location: headers.location ?? null };
  const message = messageOf(data);
  const limit = judgeLimit(status, headers, `${message} ${errorsOf(data).join(' ')}`, now);
  const text = hostText(`GitHub answered ${status}: ${message}`);
  if (limit !== undefined) return { kind: 'limited', limit, text };
  return judgeStatus(status, text, data, { headers, now });
}

function judgeStatus(
  status: number,
  text: string,
  data: unknown,
  { headers, now }: { readonly headers: GithubHeaders; readonly now: number },
): GithubJudged {
  if (status === 408 || status >= 500 || isPage(data))
    return { kind: 'outage', reason: 'unreachable', text, until: retryTime(headers, now), isSent: true };
  if (status === 401) return { kind: 'unauthorized', text };
  if (status === 403 && CLOSED.test(text)) return { kind: 'denied', text };
  return { kind: 'refused', status, text, errors: errorsOf(data) };
}

/** `Link: <https://…?cursor=v1_17&per_page=100>; rel="next"` */
function nextOf({ link }: GithubHeaders): { readonly next?: string } {
  const next = /<[^<>]*[?&]cursor=([\w%.~=-]{1,200})[^<>]*>; *rel="next"/.exec(link ?? '')?.[1];
  return next === undefined ? {} : { next: decodeURIComponent(next) };
}

/** Not JSON, and so not of GitHub's API: a proxy before it, or its own edge, answered. It says nothing about what was asked. */
function isPage(data: unknown): boolean {
  return typeof data === 'string' && data !== '';
}

/** `message` of an error's body; any other body is not shown. */
function messageOf(data: unknown): string {
  if (typeof data === 'object' && data !== null && 'message' in data && typeof data.message === 'string')
    return data.message;
  return 'no message';
}

/** The entries of `errors` as lines: texts, or objects with `message`, `resource`, `field` and `code`. */
function errorsOf(data: unknown): readonly string[] {
  if (typeof data !== 'object' || data === null || !('errors' in data)) return [];
  const errors: readonly unknown[] = Array.isArray(data.errors) ? data.errors : [data.errors];
  return errors.slice(0, MOST_ERRORS).map(error => hostText(errorText(error)));
}

function errorText(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error);
  if ('message' in error && typeof error.message === 'string') return error.message;
  return ['resource', 'field', 'code']
    .map(name => Reflect.get(error, name))
    .filter(part => typeof part === 'string')
    .join(' ');
}

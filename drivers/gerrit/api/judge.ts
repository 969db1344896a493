/** What an answer of Gerrit means for the request, before any question of repetition. Pure. */

import type { Secret } from '../../../src/lib/secret.ts';
import type { HostTroubleReason } from '../../../src/model/host-trouble.ts';
import type { Json } from '../../../src/model/job.ts';
import type { GerritCarried } from './carrier.ts';
import type { GerritHeaders } from './send.ts';
import { gerritLine, gerritText } from './shown-text.ts';

/** Times are milliseconds since the epoch. */
export type GerritJudged =
  | { readonly kind: 'ok'; readonly status: number; readonly data: Json }
  | { readonly kind: 'refused'; readonly status: number; readonly text: string }
  /** 401. */
  | { readonly kind: 'unauthorized'; readonly text: string }
  /** Access is missing as a whole: no verdict on what was asked. */
  | { readonly kind: 'denied'; readonly text: string }
  | { readonly kind: 'limited'; readonly text: string; readonly until: number | null }
  /** `isSent`: a write may have happened. */
  | {
      readonly kind: 'outage';
      readonly reason: HostTroubleReason;
      readonly text: string;
      readonly until: number | null;
      readonly isSent: boolean;
      /** Asking again at once may help. */
      readonly isBrief: boolean;
    };

/** In front of all of Gerrit's JSON. */
const PREFIX = ")]}'";
/** Of the account as a whole, and not of what was asked for. */
const NO_ACCOUNT = /^(?:authentication required|invalid authentication|account .*(?:inactive|not found))/i;
const STRANGE =
  'Gerrit did not answer, but something before it: is baseurl right, and does a proxy or a login page stand before it?';

/** @param now milliseconds. @param secrets masked in texts. */
export function judgeGerritAnswer(raw: GerritCarried, now: number, secrets: readonly Secret[]): GerritJudged {
  if (raw.kind === 'served') return { kind: 'ok', status: raw.status, data: raw.data };
  if (raw.kind === 'silent') {
    const { reason, text, isSent } = raw;
    const isBrief = reason !== 'too-large' && reason !== 'denied';
    return { kind: 'outage', reason, text: gerritLine(text, secrets), isSent, until: null, isBrief };
  }
  const { status, headers, body } = raw;
  if (status >= 200 && status < 300) return judgeSuccess(status, body);
  const shown = isPage(headers, body) ? 'an HTML page' : gerritLine(body, secrets);
  const text = `Gerrit answered ${status}: ${shown === '' ? 'nothing' : shown}`;
  if (status >= 300 && status < 400) return strange(`a redirect to ${pathOf(headers.location)} came`, false);
  if (status === 401) return { kind: 'unauthorized', text: `Gerrit does not accept the account (${text})` };
  const until = retryAt(headers, now);
  if (status === 429) return { kind: 'limited', text, until };
  if (status === 408 || status >= 500)
    return {
      kind: 'outage',
      reason: status === 503 && until !== null ? 'limited' : 'unreachable',
      text,
      until,
      isSent: true,
      isBrief: until === null,
    };
  if (isPage(headers, body)) return strange(`an HTML page with status ${status} came`, false);
  if (status === 403 && NO_ACCOUNT.test(body)) return { kind: 'denied', text };
  return { kind: 'refused', status, text: gerritText(body, secrets) || `status ${status} without a reason` };
}

function judgeSuccess(status: number, body: string): GerritJudged {
  if (body.trim() === '') return { kind: 'ok', status, data: null };
  if (!body.startsWith(PREFIX)) return strange(`status ${status} came without Gerrit's mark`, true);
  try {
    return { kind: 'ok', status, data: JSON.parse(body.slice(PREFIX.length)) };
  } catch {
    return strange(`status ${status} came with half an answer`, true);
  }
}

/** @param isSent a success of we do not know what: a write may have happened. */
function strange(what: string, isSent: boolean): GerritJudged {
  return {
    kind: 'outage',
    reason: 'other',
    text: `${what}; ${STRANGE}`,
    until: null,
    isSent,
    isBrief: false,
  };
}

function isPage(headers: GerritHeaders, body: string): boolean {
  return /^text\/html\b/i.test(headers['content-type'] ?? '') || /^\s*<(?:!doctype|html)\b/i.test(body);
}

/** The query of a redirect may hold anything. */
function pathOf(location: string | undefined): string {
  return gerritLine((location ?? '').replace(/[?#].*/s, ''), []) || 'nowhere';
}

const LONGEST_WAIT_MS = 3_600_000;

/** `Retry-After`, in seconds or as a date, at most an hour ahead. Null: absent, or no time. */
function retryAt(headers: GerritHeaders, now: number): number | null {
  const text = headers['retry-after'];
  if (text === undefined) return null;
  const at = /^\d{1,9}$/.test(text) ? now + Number(text) * 1000 : Date.parse(text);
  return Number.isNaN(at) ? null : Math.min(Math.max(at, now), now + LONGEST_WAIT_MS);
}

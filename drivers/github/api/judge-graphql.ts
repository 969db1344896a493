/**
 * What an answer of GraphQL means: GitHub answers 200 to nearly everything and puts the trouble into `errors`. An answer with any
 * error counts as a whole: half of a pull request is not compared with anything. Pure.
 */
import { hostText } from './host-text.ts';
import { type GithubJudged, judgeAnswer } from './judge-answer.ts';
import { judgeLimit, resetTime } from './judge-limit.ts';
import type { GithubRaw } from './send.ts';

/** GitHub's `type` of an error, as far as a status of REST says the same. */
const STATUS_OF: ReadonlyMap<string, number> = new Map([
  ['NOT_FOUND', 404],
  ['FORBIDDEN', 403],
  ['INSUFFICIENT_SCOPES', 403],
  ['UNPROCESSABLE', 422],
]);
const LIMITS: ReadonlySet<string> = new Set(['RATE_LIMITED', 'RATE_LIMIT']);
/** Errors without a type that are GitHub's own trouble. */
const OUTAGE =
  /something went wrong|timed ?out|timeout|internal error|try again|loading|service unavailable/i;

interface GraphqlError {
  readonly type: string;
  readonly text: string;
  readonly isSaml: boolean;
}

/** `data` of an `ok` is that of the answer. @param now milliseconds. */
export function judgeGraphql(raw: GithubRaw, now: number): GithubJudged {
  const judged = judgeAnswer(raw, now);
  if (judged.kind !== 'ok' || raw.kind !== 'answered') return judged;
  const errors = errorsOf(judged.data);
  const [first] = errors;
  if (first === undefined) return withData(judged.data);
  const text = hostText(`GitHub answered: ${first.text}`);
  if (errors.some(({ type }) => LIMITS.has(type)))
    return { kind: 'limited', limit: { by: 'primary', until: resetTime(raw.headers) }, text };
  const limit = judgeLimit(200, raw.headers, errors.map(error => error.text).join(' '), now);
  if (limit !== undefined) return { kind: 'limited', limit, text };
  if (errors.some(({ isSaml }) => isSaml)) return { kind: 'denied', text };
  if (errors.some(isOutage))
    return { kind: 'outage', reason: 'unreachable', text, until: null, isSent: true };
  const status = STATUS_OF.get(first.type) ?? 422;
  return { kind: 'refused', status, text, errors: errors.map(error => error.text) };
}

function isOutage({ type, text }: GraphqlError): boolean {
  return type === 'INTERNAL' || type === 'SERVICE_UNAVAILABLE' || (type === '' && OUTAGE.test(text));
}

function withData(body: unknown): GithubJudged {
  if (typeof body === 'object' && body !== null && 'data' in body && body.data !== null)
    return { kind: 'ok', status: 200, data: body.data };
  // A proxy's page, or an empty body.
  return { kind: 'outage', reason: 'other', text: 'the answer holds no data', until: null, isSent: true };
}

function errorsOf(body: unknown): readonly GraphqlError[] {
  if (typeof body !== 'object' || body === null || !('errors' in body)) return [];
  const errors: readonly unknown[] = Array.isArray(body.errors) ? body.errors.slice(0, 20) : [body.errors];
  return errors.map(readError);
}

function readError(error: unknown): GraphqlError {
  if (typeof error !== 'object' || error === null)
    return { type: '', text: hostText(String(error)), isSaml: false };
  const type: unknown = Reflect.get(error, 'type');
  const text: unknown = Reflect.get(error, 'message');
  const extensions: unknown = Reflect.get(error, 'extensions');
  return {
    type: typeof type === 'string' ? type : '',
    text: hostText(typeof text === 'string' ? text : 'an error without a message'),
    isSaml: typeof extensions === 'object' && extensions !== null && 'saml_failure' in extensions,
  };
}

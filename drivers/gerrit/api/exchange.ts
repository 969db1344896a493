/**
 * One call with everything around it: a place, the right to act, authentication, judgement, steps, and at most two repetitions of a
 * read that Gerrit did not serve. A write is sent once; after a 401 that asks for digest authentication it has not happened.
 */
import { NotHolder } from '../../../src/driver/not-holder.ts';
import { type Backoff, backoffDelay } from '../../../src/lib/backoff.ts';
import { type Clock, millisecondsBetween, toMilliseconds } from '../../../src/lib/clock.ts';
import type { ConnectionName } from '../../../src/model/project.ts';
import type { Authorization } from './authorize.ts';
import { type GerritWaitReason, gerritQueryStep, gerritWaitStep } from './call-steps.ts';
import type { FairPlaces } from './fair-places.ts';
import { type GerritJudged, judgeGerritAnswer } from './judge.ts';
import type { KnownOptions } from './known-options.ts';
import type { GerritCall, GerritRequest } from './port.ts';
import type { GerritRaw, GerritSender, GerritWireRequest } from './send.ts';

/** Parts it is made of. */
export interface GerritExchangeDeps {
  readonly connection: ConnectionName;
  /** Of REST requests, without trailing slash: `https://review.example.org/a` with an account. */
  readonly root: string;
  readonly clock: Clock;
  /** Ends early when aborted. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly authorization: Authorization;
  readonly places: FairPlaces;
  readonly options: KnownOptions;
  readonly sender: GerritSender;
  readonly deadlinesMs: { readonly read: number; readonly write: number; readonly place: number };
  /** Gets each request that was sent. @param status null: no answer came. */
  readonly asked: (operation: string, status: number | null) => void;
}

/** Of reads, after an outage. */
const MOST_REPETITIONS = 2;
const BETWEEN: Backoff = { firstMs: 500, maxMs: 2_000 };
/** Requests that are authenticated anew: the first one without a nonce, and one whose nonce was too old. */
const MOST_CHALLENGES = 3;

/** @throws NotHolder, or the signal's reason. */
export async function exchangeWithGerrit(
  deps: GerritExchangeDeps,
  request: GerritRequest,
  call: GerritCall,
): Promise<GerritJudged> {
  let challenges = 0;
  let repetitions = 0;
  for (let resends = 0; ; resends += 1) {
    const path = deps.options.without(request.path);
    const { judged, mayAskAgain } = await askOnce(deps, { ...request, path }, call, resends);
    const isRead = request.method === 'GET';
    if (judged.kind === 'unauthorized' && mayAskAgain && challenges < MOST_CHALLENGES) challenges += 1;
    else if (judged.kind === 'refused' && isRead && deps.options.refused(path, judged.status, judged.text))
      continue;
    else if (judged.kind === 'outage' && isRead && judged.isBrief && repetitions < MOST_REPETITIONS) {
      repetitions += 1;
      const delay = backoffDelay(BETWEEN, repetitions, deps.random());
      await waiting(deps, call, 'outage', () => deps.pause(delay, call.signal));
      call.signal.throwIfAborted();
    } else return judged;
  }
}

interface Attempt {
  readonly judged: GerritJudged;
  /** Of a 401: with other headers. */
  readonly mayAskAgain: boolean;
}

async function askOnce(
  deps: GerritExchangeDeps,
  request: GerritRequest,
  call: GerritCall,
  resends: number,
): Promise<Attempt> {
  const place = await takePlace(deps, call);
  if (place === undefined) return { judged: noPlace(deps), mayAskAgain: false };
  using _held = place;
  // Directly before it is sent: a process that was stopped meanwhile notices.
  if (request.method !== 'GET' && call.mayAct?.() === false) throw new NotHolder(request.operation);
  const { wire, credentials } = wireRequest(deps, request);
  const raw = await sendOnce(deps, request, call, { wire, resends });
  const judged = judgeGerritAnswer(raw, toMilliseconds(deps.clock.now()), deps.authorization.secrets);
  const mayAskAgain =
    raw.kind === 'answered' &&
    judged.kind === 'unauthorized' &&
    deps.authorization.challenged(raw.headers['www-authenticate'], credentials);
  return { judged, mayAskAgain };
}

function wireRequest(
  { root, authorization, deadlinesMs }: GerritExchangeDeps,
  { method, path, body }: GerritRequest,
): { readonly wire: GerritWireRequest; readonly credentials: { readonly [name: string]: string } } {
  const url = new URL(`${root}/${path}`);
  const credentials = authorization.headers(method, `${url.pathname}${url.search}`);
  const text = body === undefined ? undefined : JSON.stringify(body);
  const headers = {
    ...credentials,
    accept: 'application/json',
    'accept-encoding': 'gzip',
    'user-agent': 'gatehouse',
    ...(text === undefined ? {} : { 'content-type': 'application/json; charset=UTF-8' }),
    ...(method === 'GET' ? {} : { 'content-length': String(Buffer.byteLength(text ?? '')) }),
  };
  const deadlineMs = method === 'GET' ? deadlinesMs.read : deadlinesMs.write;
  return { wire: { method, url, headers, body: text, deadlineMs }, credentials };
}

async function sendOnce(
  { clock, connection, sender, asked }: GerritExchangeDeps,
  { operation, method }: GerritRequest,
  { project, signal, steps }: GerritCall,
  { wire, resends }: { readonly wire: GerritWireRequest; readonly resends: number },
): Promise<GerritRaw> {
  const startedAt = clock.now();
  const raw = await sender.send(wire, signal);
  const [status, bytes] = raw.kind === 'answered' ? [raw.status, raw.bytes] : [null, 0];
  asked(operation, status);
  const query = { operation, project, method, status, bytes, resends, startedAt, endedAt: clock.now() };
  steps?.(gerritQueryStep(query, connection));
  return raw;
}

/** @returns undefined: there was none for a minute. */
async function takePlace(deps: GerritExchangeDeps, call: GerritCall): Promise<Disposable | undefined> {
  const patience = AbortSignal.timeout(deps.deadlinesMs.place);
  try {
    return await waiting(deps, call, 'places', () =>
      deps.places.take(call.project, AbortSignal.any([call.signal, patience])),
    );
  } catch (error) {
    call.signal.throwIfAborted();
    if (patience.aborted) return undefined;
    throw error;
  }
}

function noPlace({ deadlinesMs }: GerritExchangeDeps): GerritJudged {
  const text = `Gerrit is slow: all requests that are allowed at a time were under way for ${deadlinesMs.place / 1000} s`;
  return { kind: 'outage', reason: 'timeout', text, until: null, isSent: false, isBrief: false };
}

/** Waits that are too short for a step. */
const NO_WAIT_MS = 5;

async function waiting<T>(
  { clock, connection }: GerritExchangeDeps,
  { steps }: GerritCall,
  reason: GerritWaitReason,
  wait: () => Promise<T>,
): Promise<T> {
  const startedAt = clock.now();
  const result = await wait();
  const endedAt = clock.now();
  if (reason !== 'places' || millisecondsBetween(startedAt, endedAt) >= NO_WAIT_MS)
    steps?.(gerritWaitStep({ reason, startedAt, endedAt }, connection));
  return result;
}

/**
 * One call with everything around it: a place, the right to act, authentication, judgement, steps, and at most two repetitions of a
 * read that Gerrit did not serve. A write is sent once; after a 401 that asks for digest authentication it has not happened.
 */
import { NotHolder } from '../../../src/driver/not-holder.ts';
import { type Backoff, backoffDelay } from '../../../src/lib/backoff.ts';
import { type Clock, millisecondsBetween, toMilliseconds } from '../../../src/lib/clock.ts';
import type { ConnectionName } from '../../../src/model/project.ts';
import { type GerritWaitReason, gerritQueryStep, gerritWaitStep } from './call-steps.ts';
import type { GerritCarrier } from './carrier.ts';
import type { FairPlaces } from './fair-places.ts';
import { type GerritJudged, judgeGerritAnswer } from './judge.ts';
import type { KnownOptions } from './known-options.ts';
import type { GerritCall, GerritRequest } from './port.ts';

/** Parts it is made of. */
export interface GerritExchangeDeps {
  readonly connection: ConnectionName;
  readonly clock: Clock;
  /** Ends early when aborted. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly carrier: GerritCarrier;
  readonly places: FairPlaces;
  readonly options: KnownOptions;
  /** To wait for a place, milliseconds. */
  readonly patienceMs: number;
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
  const { raw, mayAskAgain } = await sendOnce(deps, request, call, resends);
  const judged = judgeGerritAnswer(raw, toMilliseconds(deps.clock.now()), deps.carrier.secrets);
  return { judged, mayAskAgain };
}

async function sendOnce(
  { clock, connection, carrier, asked }: GerritExchangeDeps,
  request: GerritRequest,
  { project, signal, steps }: GerritCall,
  resends: number,
): ReturnType<GerritCarrier['carry']> {
  const { operation, method } = request;
  const startedAt = clock.now();
  const carried = await carrier.carry(request, signal);
  const { raw } = carried;
  const [status, bytes] = raw.kind === 'silent' ? [null, 0] : [raw.status, raw.bytes];
  asked(operation, status);
  const query = { operation, project, method, status, bytes, resends, startedAt, endedAt: clock.now() };
  steps?.(gerritQueryStep(query, connection));
  return carried;
}

/** @returns undefined: there was none for a minute. */
async function takePlace(deps: GerritExchangeDeps, call: GerritCall): Promise<Disposable | undefined> {
  const patience = AbortSignal.timeout(deps.patienceMs);
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

function noPlace({ patienceMs }: GerritExchangeDeps): GerritJudged {
  const text = `Gerrit is slow: all requests that are allowed at a time were under way for ${patienceMs / 1000} s`;
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

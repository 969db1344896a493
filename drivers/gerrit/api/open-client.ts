/**
 * The client: {@link GerritApi} over HTTP, or over SSH. From a call to its answer:
 *
 *   open-client.ts    what the judgement means for the caller
 *   exchange.ts       one call: places (fair-places.ts), options that an old Gerrit lacks (known-options.ts), steps (call-steps.ts),
 *                     repeated reads
 *   carrier.ts        what brings it to Gerrit: http-carrier.ts with authentication (authorize.ts, digest.ts) and HTTP (send.ts), or ssh/
 *   judge.ts          what an answer means; shown-text.ts makes its text fit to show
 *
 * port.ts is what the rest of the driver sees. Gerrit's JSON, read: change-info.ts, label-info.ts, message-info.ts, submit-info.ts,
 * account-info.ts; info-json.ts, info-time.ts.
 *
 * A call ends within some four minutes at worst: a minute for a place and a deadline for each request, and reads are sent three times.
 */
import assert from 'node:assert/strict';
import type { HostLater } from '../../../src/driver/host-later.ts';
import { assertNever } from '../../../src/lib/assert-never.ts';
import { type Clock, fromMilliseconds } from '../../../src/lib/clock.ts';
import type { Json } from '../../../src/model/job.ts';
import type { ConnectionName } from '../../../src/model/project.ts';
import type { GerritOptions, SshAuth } from '../options.ts';
import type { GerritBounds, GerritCarrier } from './carrier.ts';
import { exchangeWithGerrit, type GerritExchangeDeps } from './exchange.ts';
import { createFairPlaces } from './fair-places.ts';
import { createHttpCarrier } from './http-carrier.ts';
import type { GerritJudged } from './judge.ts';
import { createKnownOptions } from './known-options.ts';
import { type GerritAnswer, type GerritApi, TOO_LARGE } from './port.ts';

/** Effects of the client. */
export interface GerritClientDeps {
  /** For the trace. */
  readonly connection: ConnectionName;
  readonly clock: Clock;
  /** Ends early when aborted. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Uniform in [0, 1); default `Math.random`. */
  readonly random?: () => number;
  /** Gets the end of each call. @param later undefined: Gerrit served it. */
  readonly noted: (project: string, later: HostLater | undefined) => void;
  /** Gets each request that was sent. @param status null: no answer came. */
  readonly asked: (operation: string, status: number | null) => void;
  /** Milliseconds; for tests. Default: 30 s, 60 s and 60 s. */
  readonly deadlinesMs?: { readonly read: number; readonly write: number; readonly place: number };
  /** What carries requests with `auth` `ssh`, which has to have it. */
  readonly overSsh?: (auth: SshAuth, bounds: GerritBounds) => GerritCarrier;
  /** Of one answer, unpacked; for tests. Default: 16 MB. */
  readonly mostBytes?: number;
}

/** The client with its end. */
export interface OpenGerritClient {
  readonly api: GerritApi;
  /** Calls under way end with an error. */
  close(): void;
}

const DEADLINES_MS = { read: 30_000, write: 60_000, place: 60_000 };
/** 100 changes of a listing with all messages have some 10 MB at worst. */
const MOST_BYTES = 16_000_000;

/** Contacts nothing yet. */
export function openGerritClient(
  options: Pick<GerritOptions, 'baseUrl' | 'auth' | 'verifySsl' | 'concurrency'>,
  deps: GerritClientDeps,
): OpenGerritClient {
  const lifetime = new AbortController();
  const { mostBytes = MOST_BYTES, deadlinesMs = DEADLINES_MS, random = Math.random } = deps;
  const { auth } = options;
  const bounds = { deadlinesMs, mostBytes };
  const carrier =
    auth.kind === 'ssh' ? deps.overSsh?.(auth, bounds) : createHttpCarrier(options, auth, bounds);
  assert(carrier !== undefined, 'nothing carries requests over SSH');
  const exchange: GerritExchangeDeps = {
    ...{ connection: deps.connection, clock: deps.clock, pause: deps.pause, asked: deps.asked },
    ...{ random, carrier, patienceMs: deadlinesMs.place },
    places: createFairPlaces(options.concurrency),
    options: createKnownOptions(deps.clock.monotonic),
  };
  return {
    api: {
      async ask(request, call) {
        const signal = AbortSignal.any([call.signal, lifetime.signal]);
        const judged = await exchangeWithGerrit(exchange, request, { ...call, signal });
        const answer = gerritAnswerOf(judged, request.method !== 'GET');
        deps.noted(
          call.project,
          answer.kind === 'later' || answer.kind === 'lost' ? answer.later : undefined,
        );
        return answer;
      },
    },
    close() {
      lifetime.abort(new Error('the connection is closed'));
      carrier.close();
    },
  };
}

/** @param isWrite it was one: of an outage it is not known whether it happened. */
function gerritAnswerOf(judged: GerritJudged, isWrite: boolean): GerritAnswer<Json> {
  switch (judged.kind) {
    case 'ok':
    case 'refused':
      return judged;
    case 'unauthorized': {
      const text = `${judged.text}; check user, password and auth_type of the connection`;
      return { kind: 'later', later: { reason: 'denied', text } };
    }
    case 'denied':
      return { kind: 'later', later: { reason: 'denied', text: judged.text } };
    case 'limited':
      return { kind: 'later', later: laterOf('limited', judged.text, judged.until) };
    case 'outage': {
      if (judged.reason === 'too-large' && !isWrite)
        return { kind: 'refused', status: TOO_LARGE, text: judged.text };
      const later = laterOf(judged.reason, judged.text, judged.until);
      return { kind: isWrite && judged.isSent ? 'lost' : 'later', later };
    }
    default:
      return assertNever(judged);
  }
}

function laterOf(reason: HostLater['reason'], text: string, until: number | null): HostLater {
  return { reason, text, ...(until === null ? {} : { notBefore: fromMilliseconds(until) }) };
}

/**
 * One request with everything around it that does not depend on whose it is: budget, the right to act, conditional request,
 * judgement, steps, and at most two repetitions of a read that GitHub did not serve.
 */
import { NotHolder } from '../../../src/driver/not-holder.ts';
import { type Backoff, backoffDelay } from '../../../src/lib/backoff.ts';
import { fromMilliseconds, toMilliseconds } from '../../../src/lib/clock.ts';
import type { Secret } from '../../../src/lib/secret.ts';
import type { GithubCost } from './budget.ts';
import type { Budgets, NotYet, Spending } from './budgets.ts';
import { queryStep, type StepPlace, type WaitStep, waitStep } from './call-steps.ts';
import type { ClientTime } from './client-time.ts';
import type { EtagCache } from './etag.ts';
import { type GithubJudged, judgeAnswer } from './judge-answer.ts';
import { judgeGraphql } from './judge-graphql.ts';

import type { GithubCall } from './port.ts';
import type { GithubRaw, SendToGithub } from './send.ts';

/** What is asked, with any credentials. */
export interface ExchangeRequest {
  /** GitHub's operation id, or a name of ours for a query. */
  readonly operation: string;
  /** As Octokit takes it; of GraphQL with the whole URL. */
  readonly route: string;
  readonly parameters: { readonly [name: string]: unknown };
  readonly cost: Omit<GithubCost, 'weight'>;
  /** It changes nothing, or nothing that matters when it happens twice. */
  readonly isRepeatable: boolean;
}

/** Whose request it is. */
export interface ExchangeCredential {
  /** Of the budget, and of what may be known from earlier answers. */
  readonly key: string;
  /** Undefined: as the App. */
  readonly token: Secret | undefined;
}

/** `unchanged` does not occur: it is answered with what was known. */
export type Exchanged =
  | Exclude<GithubJudged, { kind: 'unchanged' | 'limited' }>
  /** Nothing was sent, or GitHub refused because of a limit. `until`: milliseconds. */
  | { readonly kind: 'limited'; readonly until: number; readonly text: string };

/** @throws NotHolder, or the signal's reason. */
export type Exchange = (
  request: ExchangeRequest,
  credential: ExchangeCredential,
  call: GithubCall,
) => Promise<Exchanged>;

/** Parts it is made of. */
export interface ExchangeDeps extends ClientTime {
  readonly random: () => number;
  readonly send: SendToGithub;
  readonly budgets: Budgets;
  readonly etags: EtagCache;
  readonly place: StepPlace;
  /** Gets each request that was sent. @param status null: no answer came. */
  readonly asked: (operation: string, status: number | null) => void;
}

/** Of reads, after an outage. */
const MOST_REPETITIONS = 2;
const BETWEEN: Backoff = { firstMs: 250, maxMs: 1_000 };

export function createExchange(deps: ExchangeDeps): Exchange {
  const { clock, random } = deps;
  return async (request, credential, call) => {
    const waited = (wait: WaitStep) => call.steps?.(waitStep(wait, deps.place, clock.now()));
    for (let resends = 0; ; resends += 1) {
      const judged = await askOnce(deps, request, credential, { ...call, resends, waited });
      const mayRepeat = judged.kind === 'outage' && judged.until === null && request.isRepeatable;
      if (!mayRepeat || resends >= MOST_REPETITIONS) return judged;
      const startedAt = clock.now();
      await deps.pause(backoffDelay(BETWEEN, resends + 1, random()), call.signal);
      call.signal.throwIfAborted();
      waited({ reason: 'outage', startedAt, until: clock.now(), installation: credential.key });
    }
  };
}

interface Attempt extends GithubCall {
  readonly resends: number;
  readonly waited: (wait: WaitStep) => void;
}

async function askOnce(
  deps: ExchangeDeps,
  request: ExchangeRequest,
  credential: ExchangeCredential,
  call: Attempt,
): Promise<Exchanged> {
  const cost = { ...request.cost, weight: call.weight };
  const spending = await deps.budgets.spend(credential.key, cost, call);
  if ('kind' in spending) return notYet(deps, spending, credential, call);
  using spent = spending;
  // Directly before it is sent: a process that was stopped meanwhile notices.
  if (request.cost.isWrite && call.mayAct?.() === false) throw new NotHolder(request.operation);
  const key = cacheKey(request, credential);
  const known = key === undefined ? undefined : deps.etags.get(key);
  const raw = await sendOnce(deps, request, { credential, call, etag: known?.etag });
  const judged = settle(deps, request, raw, spent);
  if (judged.kind === 'unchanged' && known !== undefined)
    return { kind: 'ok', status: 200, ...known.answer() };
  if (judged.kind === 'unchanged')
    return {
      kind: 'outage',
      reason: 'other',
      text: 'GitHub answered 304 unasked',
      until: null,
      isSent: true,
    };
  if (judged.kind === 'ok' && key !== undefined && raw.kind === 'answered')
    deps.etags.keep(key, raw.headers.etag, judged);
  return judged;
}

async function sendOnce(
  { clock, place, send, asked }: ExchangeDeps,
  { operation, route, parameters }: ExchangeRequest,
  {
    credential,
    call,
    etag,
  }: { readonly credential: ExchangeCredential; readonly call: Attempt; readonly etag: string | undefined },
): Promise<GithubRaw> {
  const { repository, resends, signal } = call;
  const startedAt = clock.now();
  const { token } = credential;
  const raw = await send({ route, parameters, token, ...(etag === undefined ? {} : { etag }) }, signal);
  const isAnswered = raw.kind === 'answered';
  asked(operation, isAnswered ? raw.status : null);
  const step = queryStep(
    {
      operation,
      repository,
      method: route.slice(0, route.indexOf(' ')),
      status: isAnswered ? raw.status : null,
      headers: isAnswered ? raw.headers : {},
      resends,
      startedAt,
      endedAt: clock.now(),
    },
    place,
  );
  call.steps?.(step);
  return raw;
}

/** The answer judged and entered into the budget. */
function settle(
  { clock }: ExchangeDeps,
  { cost }: ExchangeRequest,
  raw: GithubRaw,
  spent: Spending,
): Exclude<GithubJudged, { kind: 'limited' }> | Extract<Exchanged, { kind: 'limited' }> {
  const now = toMilliseconds(clock.now());
  if (raw.kind === 'answered') spent.answered(raw.headers);
  const judged = cost.resource === 'graphql' ? judgeGraphql(raw, now) : judgeAnswer(raw, now);
  if (judged.kind === 'limited')
    return { kind: 'limited', until: spent.limited(judged.limit), text: judged.text };
  if (judged.kind === 'ok') spent.served();
  return judged;
}

function notYet(
  { clock }: ExchangeDeps,
  { reason, until }: NotYet,
  { key }: ExchangeCredential,
  { waited }: Attempt,
): Exchanged {
  waited({ reason, startedAt: clock.now(), until: fromMilliseconds(until), installation: key });
  const end = new Date(until).toISOString();
  return { kind: 'limited', until, text: `${TEXTS[reason]}; GitHub is asked again at ${end}` };
}

const TEXTS: { readonly [reason in NotYet['reason']]: string } = {
  'primary-limit': 'the hourly rate limit of GitHub is used up',
  'secondary-limit': 'GitHub limits requests for a while (secondary rate limit)',
  reserve: 'what is left of the rate limit of GitHub is kept for results and merges',
};

/** Only GETs of REST are conditional. */
function cacheKey({ route, parameters }: ExchangeRequest, { key }: ExchangeCredential): string | undefined {
  return route.startsWith('GET ') ? `${key} ${route} ${JSON.stringify(parameters)}` : undefined;
}

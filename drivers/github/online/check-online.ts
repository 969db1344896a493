/**
 * `config-check --online` for one connection: asks GitHub about the App and about each repository, a few at a time, and compares
 * the answers with what pipelines want. Requests weigh as little as notices: a service that runs beside goes first.
 *
 * A limit is waited for if it ends within a minute or so. A host that does not answer is asked for one repository's worth of time,
 * then no more: that is one finding for the whole connection.
 */
import type { OnlineCheck, OnlineFinding, ProjectUse } from '../../../src/driver/online-check.ts';
import { type Clock, toMilliseconds } from '../../../src/lib/clock.ts';
import { projectIdOf } from '../../../src/model/project.ts';
import type { GithubApi, GithubCall } from '../api/port.ts';
import type { GithubOptions } from '../options.ts';
import { createRulesetReader } from '../reading/ruleset-reader.ts';
import type { Asked } from './asked.ts';
import { contradictions } from './contradictions.ts';
import { readRepository } from './read-repository.ts';
import { readWebhook } from './read-webhook.ts';
import { webhookFindings } from './webhook-findings.ts';

/** Of one connection. */
export interface OnlineCheckDeps {
  readonly api: GithubApi;
  readonly clock: Clock;
  /** Ends early when aborted. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Milliseconds for all requests about one repository, without waits for limits. Default 30 s. */
  readonly answerWithin?: number;
}

/** Repositories asked about at the same time. */
const AT_ONCE = 8;
const ANSWER_WITHIN = 30_000;
/** A secondary limit lasts a minute; one that lasts longer is not waited for. Milliseconds. */
const LONGEST_WAIT = 90_000;
const SHORTEST_WAIT = 100;
const MOST_WAITS = 10;

/** Contacts nothing yet. */
export function createGithubOnlineCheck(
  connection: string,
  { landing, webhookTokens }: Pick<GithubOptions, 'landing' | 'webhookTokens'>,
  deps: OnlineCheckDeps,
): OnlineCheck {
  const { api, clock } = deps;
  const isTaken = webhookTokens.length > 0;
  return async (uses, signal) => {
    const [first] = uses;
    if (first === undefined) return [];
    const rulesets = createRulesetReader(api, clock, signal);
    const hook = await patiently(deps, first, signal, call => readWebhook(api, call));
    if (hook.kind === 'away') return [notAsked(hook, uses.length, uses.length)];
    if (hook.value.kind === 'wrong') return [{ ...hook.value.finding, project: null }];
    const { facts } = hook.value;
    const about = facts === null ? [] : webhookFindings(uses, { ...facts, connection, isTaken });
    const read = (use: ProjectUse, call: GithubCall) => readRepository(use, { api, rulesets, landing }, call);
    return [...about, ...(await checkRepositories(uses, read, deps, signal))];
  };
}

/** In the order of the projects. */
async function checkRepositories(
  uses: readonly ProjectUse[],
  read: (use: ProjectUse, call: GithubCall) => ReturnType<typeof readRepository>,
  deps: OnlineCheckDeps,
  signal: AbortSignal,
): Promise<readonly OnlineFinding[]> {
  const found = new Map<ProjectUse, readonly OnlineFinding[]>();
  const stop = new AbortController();
  const ending = AbortSignal.any([signal, stop.signal]);
  const left = uses.values();
  let away: Away | undefined;
  const worker = async () => {
    for (const use of left) {
      const asked = await patiently(deps, use, ending, call => read(use, call));
      if (asked.kind === 'away') {
        away ??= asked;
        // The others are asked nothing more: they would wait as long.
        stop.abort(new Error(asked.text));
        return;
      }
      const { value } = asked;
      found.set(
        use,
        value.kind === 'wrong'
          ? [{ ...value.finding, project: use.project }]
          : contradictions(use, value.facts),
      );
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: Math.min(AT_ONCE, uses.length) }, worker));
  signal.throwIfAborted();
  for (const each of ended)
    if (each.status === 'rejected' && each.reason !== stop.signal.reason) throw each.reason;
  const findings = uses.flatMap(use => found.get(use) ?? []);
  return away === undefined ? findings : [notAsked(away, uses.length - found.size, uses.length), ...findings];
}

function notAsked({ text }: Away, unread: number, all: number): OnlineFinding {
  const what =
    all === 1 ? 'its project' : unread === all ? `its ${all} projects` : `${unread} of its ${all} projects`;
  return { severity: 'error', project: null, text: `GitHub could not be asked about ${what}: ${text}` };
}

/** The first question that GitHub did not answer. */
interface Away {
  readonly kind: 'away';
  readonly text: string;
}

/** Asks, waits for limits that end soon, and asks again. @throws the reason of `signal`. */
async function patiently<T>(
  deps: OnlineCheckDeps,
  { project }: ProjectUse,
  signal: AbortSignal,
  ask: (call: GithubCall) => Promise<Asked<T>>,
): Promise<Extract<Asked<T>, { kind: 'answered' }> | Away> {
  const { answerWithin = ANSWER_WITHIN, clock } = deps;
  for (let waits = 0; ; waits += 1) {
    signal.throwIfAborted();
    const deadline = AbortSignal.timeout(answerWithin);
    const call: GithubCall = {
      repository: projectIdOf(project).name,
      weight: 'notice',
      signal: AbortSignal.any([signal, deadline]),
    };
    try {
      const asked = await ask(call);
      if (asked.kind === 'answered') return asked;
      const { text, notBefore } = asked.later;
      if (notBefore === undefined || waits >= MOST_WAITS) return { kind: 'away', text };
      const ms = toMilliseconds(notBefore) - toMilliseconds(clock.now());
      if (ms > LONGEST_WAIT) return { kind: 'away', text };
      await deps.wait(Math.max(ms, SHORTEST_WAIT), signal);
    } catch (error) {
      if (signal.aborted || !deadline.aborted) throw error;
      return { kind: 'away', text: `no answer within ${answerWithin / 1000} s` };
    }
  }
}

/**
 * `config-check --online` asks a host about many projects, a few at a time. A limit is waited for if it ends within a minute or so. A
 * host that does not answer is asked for one project's worth of time, then no more: that is one finding for the whole connection.
 */
import { type Clock, toMilliseconds } from '../lib/clock.ts';
import type { HostLater } from './host-later.ts';
import type { OnlineFinding, ProjectUse } from './online-check.ts';

/** What came of some requests: a value, or the host did not serve one of them. */
export type Asked<T> =
  | { readonly kind: 'answered'; readonly value: T }
  | { readonly kind: 'later'; readonly later: HostLater };

/** The first question that the host did not answer. */
export interface Unanswered {
  readonly kind: 'away';
  readonly text: string;
}

/** Of one connection. */
export interface OnlineQuestionsDeps {
  readonly clock: Clock;
  /** Ends early when aborted. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Milliseconds for all requests of one question, without waits for limits. Default 30 s. */
  readonly answerWithin?: number;
}

/** Asks one host. Both throw only the reason of `signal`, and what `ask` throws. */
export interface OnlineQuestions {
  /** Asks, waits for limits that end soon, and asks again. */
  ask<T>(
    ask: (signal: AbortSignal) => Promise<Asked<T>>,
    signal: AbortSignal,
  ): Promise<Extract<Asked<T>, { kind: 'answered' }> | Unanswered>;
  /** In the order of the projects; what could not be asked comes first, as one finding. */
  askOfEach(
    uses: readonly ProjectUse[],
    ask: (use: ProjectUse, signal: AbortSignal) => Promise<Asked<readonly OnlineFinding[]>>,
    signal: AbortSignal,
  ): Promise<readonly OnlineFinding[]>;
}

/** Projects asked about at the same time. */
const AT_ONCE = 8;
const ANSWER_WITHIN = 30_000;
/** A limit that lasts longer is not waited for. Milliseconds. */
const LONGEST_WAIT = 90_000;
const SHORTEST_WAIT = 100;
const MOST_WAITS = 10;

/** @param host for people, e.g. `GitHub`. */
export function onlineQuestions(host: string, deps: OnlineQuestionsDeps): OnlineQuestions {
  const { answerWithin = ANSWER_WITHIN } = deps;

  const ask: OnlineQuestions['ask'] = async (question, signal) => {
    for (let waits = 0; ; waits += 1) {
      signal.throwIfAborted();
      const deadline = AbortSignal.timeout(answerWithin);
      try {
        const asked = await question(AbortSignal.any([signal, deadline]));
        if (asked.kind === 'answered') return asked;
        const ms = waits < MOST_WAITS ? pauseOf(asked.later, deps.clock) : undefined;
        if (ms === undefined) return { kind: 'away', text: asked.later.text };
        await deps.wait(ms, signal);
      } catch (error) {
        if (signal.aborted || !deadline.aborted) throw error;
        return { kind: 'away', text: `no answer within ${answerWithin / 1000} s` };
      }
    }
  };

  return {
    ask,
    async askOfEach(uses, question, signal) {
      const found = new Map<ProjectUse, readonly OnlineFinding[]>();
      const stop = new AbortController();
      const ending = AbortSignal.any([signal, stop.signal]);
      const left = uses.values();
      let away: Unanswered | undefined;
      const worker = async () => {
        for (const use of left) {
          const asked = await ask(each => question(use, each), ending);
          if (asked.kind === 'answered') {
            found.set(use, asked.value);
            continue;
          }
          away ??= asked;
          // The others are asked nothing more: they would wait as long.
          stop.abort(new Error(asked.text));
          return;
        }
      };
      const ended = await Promise.allSettled(Array.from({ length: Math.min(AT_ONCE, uses.length) }, worker));
      signal.throwIfAborted();
      for (const each of ended)
        if (each.status === 'rejected' && each.reason !== stop.signal.reason) throw each.reason;
      const findings = uses.flatMap(use => found.get(use) ?? []);
      return away === undefined
        ? findings
        : [notAsked(host, away, uses.length - found.size, uses.length), ...findings];
    },
  };
}

/** Milliseconds; undefined: it is not waited for. */
function pauseOf({ notBefore }: HostLater, clock: Clock): number | undefined {
  if (notBefore === undefined) return undefined;
  const ms = toMilliseconds(notBefore) - toMilliseconds(clock.now());
  return ms > LONGEST_WAIT ? undefined : Math.max(ms, SHORTEST_WAIT);
}

/** The finding that some, or all, of the projects could not be asked about. */
export function notAsked(host: string, { text }: Unanswered, unread: number, all: number): OnlineFinding {
  const what =
    all === 1 ? 'its project' : unread === all ? `its ${all} projects` : `${unread} of its ${all} projects`;
  return { severity: 'error', project: null, text: `${host} could not be asked about ${what}: ${text}` };
}

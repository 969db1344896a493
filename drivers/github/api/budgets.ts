/** The budgets of all installations in this process, and how many requests of each are under way. */
import { fromMilliseconds, toMilliseconds } from '../../../src/lib/clock.ts';
import {
  type BudgetVerdict,
  budgetAnswered,
  budgetLimited,
  budgetSent,
  budgetServed,
  freshBudget,
  type GithubBudget,
  type GithubCost,
  maySpend,
  type PrimaryWindow,
} from './budget.ts';
import type { WaitStep } from './call-steps.ts';
import type { ClientTime } from './client-time.ts';
import { type GithubLimit, resetTime } from './judge-limit.ts';
import { createPlaces, type Places } from './places.ts';
import type { GithubHeaders } from './send.ts';

/** One request's part of a budget. Dispose of it in any case. */
export interface Spending extends Disposable {
  /** The answer came. */
  answered(headers: GithubHeaders): void;
  /** @returns the time at which GitHub may be asked again, milliseconds. */
  limited(limit: GithubLimit): number;
  served(): void;
}

/** A request may not be sent before this time. */
export type NotYet = Extract<BudgetVerdict, { kind: 'wait' }>;

/** By key: an installation's id, `app` or `token`. */
export interface Budgets {
  /** Waits for a place, and at most a second for the budget. @throws the signal's reason. */
  spend(key: string, cost: GithubCost, ask: SpendOptions): Promise<Spending | NotYet>;
  /** The latest time at which a block ends, milliseconds; null: nothing is blocked. */
  blockedUntil(): number | null;
  /** What GitHub said is left of windows that have not ended. */
  left(): readonly { readonly key: string; readonly resource: string; readonly remaining: number }[];
}

interface SpendOptions {
  readonly signal: AbortSignal;
  readonly waited: (wait: WaitStep) => void;
}

/** Longer waits are the caller's: it gives its lane to others. */
const LONGEST_SPACING = 1_000;

/** @param most requests of one key at a time. */
export function createBudgets({ clock, pause }: ClientTime, most: number): Budgets {
  const budgets = new Map<string, GithubBudget>();
  const places = new Map<string, Places>();
  const now = () => toMilliseconds(clock.now());
  const budgetOf = (key: string) => budgets.get(key) ?? freshBudget();
  const change = (key: string, next: (budget: GithubBudget) => GithubBudget) =>
    void budgets.set(key, next(budgetOf(key)));

  function placesOf(key: string): Places {
    const known = places.get(key) ?? createPlaces(most);
    places.set(key, known);
    return known;
  }

  /** Once: what is not free after that is not worth a held lane. */
  async function spaced(
    key: string,
    cost: GithubCost,
    { signal, waited }: SpendOptions,
  ): Promise<BudgetVerdict> {
    const verdict = maySpend(budgetOf(key), cost, now());
    if (verdict.kind === 'go') return verdict;
    const ms = verdict.until - now();
    if (ms > LONGEST_SPACING) return verdict;
    const startedAt = clock.now();
    await pause(ms, signal);
    signal.throwIfAborted();
    waited({ reason: 'spacing', startedAt, until: fromMilliseconds(verdict.until), installation: key });
    return maySpend(budgetOf(key), cost, now());
  }

  return {
    async spend(key, cost, options) {
      const place = await placesOf(key).take(options.signal);
      let verdict: BudgetVerdict;
      try {
        verdict = await spaced(key, cost, options);
      } catch (error) {
        place[Symbol.dispose]();
        throw error;
      }
      if (verdict.kind === 'wait') {
        place[Symbol.dispose]();
        return verdict;
      }
      change(key, budget => budgetSent(budget, cost, now()));
      let isOpen = true;
      const close = (said: PrimaryWindow | undefined) => {
        if (isOpen) change(key, budget => budgetAnswered(budget, cost.resource, said));
        isOpen = false;
      };
      return {
        answered: headers => close(windowOf(headers, cost)),
        limited(limit) {
          change(key, budget => budgetLimited(budget, cost.resource, limit, now()));
          const verdict = maySpend(budgetOf(key), { ...cost, weight: 'final' }, now());
          return verdict.kind === 'wait' ? verdict.until : now();
        },
        served: () => change(key, budget => budgetServed(budget, now())),
        [Symbol.dispose]() {
          close(undefined);
          place[Symbol.dispose]();
        },
      };
    },
    blockedUntil() {
      const ends = [...budgets.values()].flatMap(({ blocks }) => [blocks.all, blocks.core, blocks.graphql]);
      const latest = Math.max(0, ...ends);
      return latest > now() ? latest : null;
    },
    left: () =>
      [...budgets].flatMap(([key, { primary }]) =>
        Object.entries(primary).flatMap(([resource, { remaining, resetAt }]) =>
          resetAt > now() ? [{ key, resource, remaining }] : [],
        ),
      ),
  };
}

/** Undefined: the headers speak of another resource, or of none. */
function windowOf(headers: GithubHeaders, { resource }: GithubCost): PrimaryWindow | undefined {
  const limit = countOf(headers['x-ratelimit-limit']);
  const remaining = countOf(headers['x-ratelimit-remaining']);
  const resetAt = resetTime(headers);
  if ((headers['x-ratelimit-resource'] ?? resource) !== resource) return undefined;
  if (limit === undefined || remaining === undefined || resetAt === null) return undefined;
  return { limit, remaining, resetAt };
}

function countOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/**
 * What one installation (or token) may still ask of GitHub. Pure: a value, and functions that give the next one.
 *
 *     primary     requests or points within an hour, of REST and of GraphQL apart; GitHub counts, its headers say what is left
 *     secondary   points within a minute, created content within a minute and an hour; GitHub says nothing, so we count
 *     block       GitHub said no: nothing is asked before the time it named
 *
 * The lighter a request weighs, the more it leaves for others: texts go first, then comments, then reads for events. A fifth is for
 * results and merges alone.
 */
import type { GithubLimit } from './judge-limit.ts';
import type { Weight } from './port.ts';
import { amountWithin, counted, emptyCount, type SlidingCount, timeOfAtMost } from './sliding-count.ts';

/** GitHub counts both by themselves (`X-RateLimit-Resource`). */
export type GithubResource = 'core' | 'graphql';

/** As the headers of the last answer had it. Times are milliseconds since the epoch. */
export interface PrimaryWindow {
  readonly limit: number;
  readonly remaining: number;
  readonly resetAt: number;
}

/** What a request would cost. */
export interface GithubCost {
  readonly resource: GithubResource;
  readonly isWrite: boolean;
  /** Something that people are notified of: comments, reviews. */
  readonly createsContent: boolean;
  readonly weight: Weight;
}

/** Of one installation, in one process: others of ours show up in what the headers say is left. */
export interface GithubBudget {
  readonly primary: { readonly [resource in GithubResource]?: PrimaryWindow };
  /** Sent and not answered, by resource. */
  readonly open: { readonly [resource in GithubResource]: number };
  readonly points: SlidingCount;
  readonly contentOfMinute: SlidingCount;
  readonly contentOfHour: SlidingCount;
  /** Until when GitHub refuses: everything (a secondary limit), or one resource (its primary limit). 0: it does not. */
  readonly blocks: { readonly [what in 'all' | GithubResource]: number };
  /** Secondary limits in a row. */
  readonly strikes: number;
}

/** Whether a request may be sent now; `until`: when to ask again. */
export type BudgetVerdict =
  | { readonly kind: 'go' }
  | {
      readonly kind: 'wait';
      readonly reason: 'primary-limit' | 'secondary-limit' | 'reserve';
      readonly until: number;
    };

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** GitHub's published secondary limits. */
const POINTS_OF_MINUTE = 900;
const CONTENT_OF_MINUTE = 80;
const CONTENT_OF_HOUR = 500;
const POINTS_OF_WRITE = 5;
/** GitHub's advice when it names no time; doubled with each secondary limit in a row. */
const SHORTEST_BLOCK = MINUTE;
const LONGEST_BLOCK = 15 * MINUTE;
/** The longest time that an answer may block: a reset is an hour away at most. */
const LATEST_BLOCK = 65 * MINUTE;
/** Part of every limit that a request of this weight leaves to heavier ones. */
const LEAVES: { readonly [weight in Weight]: number } = { live: 0.5, notice: 0.35, event: 0.2, final: 0 };

export function freshBudget(): GithubBudget {
  return {
    primary: {},
    open: { core: 0, graphql: 0 },
    points: emptyCount(MINUTE),
    contentOfMinute: emptyCount(MINUTE),
    contentOfHour: emptyCount(HOUR),
    blocks: { all: 0, core: 0, graphql: 0 },
    strikes: 0,
  };
}

/** @param now milliseconds. */
export function maySpend(budget: GithubBudget, cost: GithubCost, now: number): BudgetVerdict {
  const { all, [cost.resource]: own } = budget.blocks;
  if (all > now) return { kind: 'wait', reason: 'secondary-limit', until: all };
  if (own > now) return { kind: 'wait', reason: 'primary-limit', until: own };
  return primaryVerdict(budget, cost, now) ?? secondaryVerdict(budget, cost, now) ?? { kind: 'go' };
}

function primaryVerdict(budget: GithubBudget, cost: GithubCost, now: number): BudgetVerdict | undefined {
  const window = budget.primary[cost.resource];
  if (window === undefined || window.resetAt <= now) return undefined;
  const left = window.remaining - budget.open[cost.resource];
  if (left < 1) return { kind: 'wait', reason: 'primary-limit', until: window.resetAt };
  if (left - 1 < Math.floor(window.limit * LEAVES[cost.weight]))
    return { kind: 'wait', reason: 'reserve', until: window.resetAt };
  return undefined;
}

function secondaryVerdict(budget: GithubBudget, cost: GithubCost, now: number): BudgetVerdict | undefined {
  const limits: readonly (readonly [SlidingCount, number, number])[] = [
    [budget.points, POINTS_OF_MINUTE, pointsOf(cost)],
    ...(cost.createsContent
      ? ([
          [budget.contentOfMinute, CONTENT_OF_MINUTE, 1],
          [budget.contentOfHour, CONTENT_OF_HOUR, 1],
        ] as const)
      : []),
  ];
  let latest: Extract<BudgetVerdict, { kind: 'wait' }> | undefined;
  for (const [count, limit, amount] of limits) {
    const most = limit - Math.floor(limit * LEAVES[cost.weight]) - amount;
    const until = timeOfAtMost(count, most, now);
    if (until <= now || (latest !== undefined && latest.until >= until)) continue;
    const isFull = amountWithin(count, now) + amount > limit;
    latest = { kind: 'wait', reason: isFull ? 'secondary-limit' : 'reserve', until };
  }
  return latest;
}

function pointsOf({ isWrite }: GithubCost): number {
  return isWrite ? POINTS_OF_WRITE : 1;
}

/** A request is sent. */
export function budgetSent(budget: GithubBudget, cost: GithubCost, now: number): GithubBudget {
  const { resource, createsContent } = cost;
  return {
    ...budget,
    open: { ...budget.open, [resource]: budget.open[resource] + 1 },
    points: counted(budget.points, pointsOf(cost), now),
    ...(createsContent && {
      contentOfMinute: counted(budget.contentOfMinute, 1, now),
      contentOfHour: counted(budget.contentOfHour, 1, now),
    }),
  };
}

/** Its answer came. @param said what the headers say is left; undefined: nothing, so one is counted as spent. */
export function budgetAnswered(
  budget: GithubBudget,
  resource: GithubResource,
  said: PrimaryWindow | undefined,
): GithubBudget {
  const known = budget.primary[resource];
  const spent = known && { ...known, remaining: Math.max(0, known.remaining - 1) };
  const next = said === undefined ? spent : newerWindow(known, said);
  return {
    ...budget,
    open: { ...budget.open, [resource]: Math.max(0, budget.open[resource] - 1) },
    primary: next === undefined ? budget.primary : { ...budget.primary, [resource]: next },
  };
}

/** Answers overtake each other: within one window only the least counts. Resets of one window may differ by a second. */
function newerWindow(known: PrimaryWindow | undefined, said: PrimaryWindow): PrimaryWindow {
  if (known === undefined || said.resetAt > known.resetAt + 2_000) return said;
  if (said.resetAt < known.resetAt - 2_000) return known;
  return { ...said, remaining: Math.min(known.remaining, said.remaining) };
}

/** GitHub refused because of a limit. A time in the past, of a clock that differs, counts as none. */
export function budgetLimited(
  budget: GithubBudget,
  resource: GithubResource,
  { by, until }: GithubLimit,
  now: number,
): GithubBudget {
  const strikes = budget.strikes + (by === 'secondary' ? 1 : 0);
  const what = by === 'secondary' ? 'all' : resource;
  const shortest = by === 'secondary' ? secondaryBlock(strikes) : SHORTEST_BLOCK;
  const named = until !== null && until > now ? until : now + shortest;
  const end = Math.min(Math.max(named, budget.blocks[what]), now + LATEST_BLOCK);
  return { ...budget, strikes, blocks: { ...budget.blocks, [what]: end } };
}

function secondaryBlock(strikes: number): number {
  return Math.min(LONGEST_BLOCK, SHORTEST_BLOCK * 2 ** Math.min(strikes - 1, 10));
}

/** GitHub served a request after the block: the next secondary limit is the first again. */
export function budgetServed(budget: GithubBudget, now: number): GithubBudget {
  return budget.strikes === 0 || budget.blocks.all > now ? budget : { ...budget, strikes: 0 };
}

/** Of the budget nothing but arithmetic is tested here: client.test.ts shows it between calls and host. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  budgetAnswered,
  budgetLimited,
  budgetSent,
  budgetServed,
  freshBudget,
  type GithubBudget,
  type GithubCost,
  maySpend,
} from '../../../../../drivers/github/api/budget.ts';
import type { Weight } from '../../../../../drivers/github/api/port.ts';

const MINUTE = 60_000;
const NOW = 1_795_000_000_000;
const WEIGHTS: readonly Weight[] = ['live', 'notice', 'event', 'final'];
const READ: GithubCost = { resource: 'core', isWrite: false, createsContent: false, weight: 'final' };
const COMMENT: GithubCost = { resource: 'core', isWrite: true, createsContent: true, weight: 'final' };

const costs = fc.record({
  resource: fc.constantFrom('core' as const, 'graphql' as const),
  isWrite: fc.boolean(),
  createsContent: fc.boolean(),
  weight: fc.constantFrom(...WEIGHTS),
});
/** Requests and the milliseconds before each. */
const traffic = fc.array(fc.tuple(fc.integer({ min: 0, max: 2_000 }), costs), { maxLength: 400 });

/** Every request that may be sent is sent and answered at once. */
function driven(requests: readonly (readonly [number, GithubCost])[], begin = freshBudget()) {
  const sent: { readonly at: number; readonly cost: GithubCost }[] = [];
  let budget = begin;
  let now = NOW;
  for (const [pause, cost] of requests) {
    now += pause;
    if (maySpend(budget, cost, now).kind !== 'go') continue;
    budget = budgetAnswered(budgetSent(budget, cost, now), cost.resource, undefined);
    sent.push({ at: now, cost });
  }
  return { budget, sent, now };
}

function withPrimary(remaining: number, limit = 5_000): GithubBudget {
  const said = { limit, remaining, resetAt: NOW + 30 * MINUTE };
  return { ...freshBudget(), primary: { core: said } };
}

describe('a budget', () => {
  test('lets no minute have more than 900 points and 80 comments', () => {
    fc.assert(
      fc.property(traffic, requests => {
        const { sent } = driven(requests);
        for (const { at } of sent) {
          const minute = sent.filter(other => other.at <= at && other.at > at - MINUTE);
          const points = minute.reduce((sum, { cost }) => sum + (cost.isWrite ? 5 : 1), 0);
          expect(points).toBeLessThanOrEqual(900);
          expect(minute.filter(({ cost }) => cost.createsContent).length).toBeLessThanOrEqual(80);
        }
      }),
      { numRuns: 40 },
    );
  });

  test('never refuses a heavier request where it takes a lighter one', () => {
    fc.assert(
      fc.property(traffic, fc.integer({ min: 0, max: 5_000 }), costs, (requests, remaining, cost) => {
        const { budget, now } = driven(requests, withPrimary(remaining));
        const verdicts = WEIGHTS.map(weight => maySpend(budget, { ...cost, weight }, now).kind);
        expect(verdicts).toEqual(verdicts.toSorted((a, b) => (a === b ? 0 : a === 'wait' ? -1 : 1)));
      }),
      { numRuns: 60 },
    );
  });

  test('names a time in the future at which it is asked again, and then takes the request or names a later one', () => {
    fc.assert(
      fc.property(traffic, fc.integer({ min: 0, max: 5_000 }), costs, (requests, remaining, cost) => {
        const { budget, now } = driven(requests, withPrimary(remaining));
        let at = now;
        for (let tries = 0; tries < 5; tries += 1) {
          const verdict = maySpend(budget, cost, at);
          if (verdict.kind === 'go') return;
          expect(verdict.until).toBeGreaterThan(at);
          at = verdict.until;
        }
        expect.unreachable('five waits are not enough');
      }),
      { numRuns: 60 },
    );
  });

  test.each([
    ['live', 2_500],
    ['notice', 1_750],
    ['event', 1_000],
    ['final', 0],
  ] as const)('keeps for heavier requests than %s what it has to', (weight, left) => {
    const cost = { ...READ, weight };
    expect(maySpend(withPrimary(left + 1), cost, NOW)).toEqual({ kind: 'go' });
    expect(maySpend(withPrimary(left), cost, NOW)).toMatchObject({
      kind: 'wait',
      reason: weight === 'final' ? 'primary-limit' : 'reserve',
      until: NOW + 30 * MINUTE,
    });
  });

  test('counts what is under way', () => {
    const one = withPrimary(2);
    const two = budgetSent(budgetSent(one, READ, NOW), READ, NOW);
    expect(maySpend(two, READ, NOW)).toMatchObject({ kind: 'wait', reason: 'primary-limit' });
    const answered = budgetAnswered(two, 'core', { limit: 5_000, remaining: 2, resetAt: NOW + 30 * MINUTE });
    // 304: nothing was spent.
    expect(maySpend(answered, READ, NOW)).toEqual({ kind: 'go' });
  });

  test('believes the least of answers that overtook each other, and a new hour anew', () => {
    const at = (remaining: number, resetAt: number) => ({ limit: 5_000, remaining, resetAt });
    const reset = NOW + 30 * MINUTE;
    const sent = [READ, READ, READ].reduce((budget, cost) => budgetSent(budget, cost, NOW), freshBudget());
    const swapped = budgetAnswered(
      budgetAnswered(sent, 'core', at(10, reset)),
      'core',
      at(11, reset + 1_000),
    );
    expect(swapped.primary.core?.remaining).toBe(10);
    expect(budgetAnswered(swapped, 'core', at(4_999, reset + 60 * MINUTE)).primary.core?.remaining).toBe(
      4_999,
    );
    expect(maySpend(withPrimary(0), READ, NOW + 30 * MINUTE)).toEqual({ kind: 'go' });
  });

  test('keeps the hour under 500 comments', () => {
    const comments = Array.from({ length: 2_000 }, (): [number, GithubCost] => [1_000, COMMENT]);
    const { sent } = driven(comments);
    expect(sent).toHaveLength(500);
  });

  test('of one resource says nothing about the other', () => {
    const limited = budgetLimited(freshBudget(), 'graphql', { by: 'primary', until: NOW + MINUTE }, NOW);
    expect(maySpend(limited, { ...READ, resource: 'graphql' }, NOW).kind).toBe('wait');
    expect(maySpend(limited, READ, NOW)).toEqual({ kind: 'go' });
  });

  test('waits longer with every secondary limit that names no time, until the host serves again', () => {
    const strike = (budget: GithubBudget, now: number) =>
      budgetLimited(budget, 'core', { by: 'secondary', until: null }, now);
    const one = strike(freshBudget(), NOW);
    expect(one.blocks.all).toBe(NOW + MINUTE);
    const two = strike(one, NOW + MINUTE);
    expect(two.blocks.all).toBe(NOW + 3 * MINUTE);
    expect(strike(budgetServed(two, NOW + 3 * MINUTE), NOW + 3 * MINUTE).blocks.all).toBe(NOW + 4 * MINUTE);
    let many = two;
    for (let n = 0; n < 50; n += 1) many = strike(many, NOW + 5 * MINUTE);
    expect(many.blocks.all).toBeLessThanOrEqual(NOW + 20 * MINUTE);
  });

  test('waits a minute when the time the host names has passed on our clock, and an hour at most', () => {
    const limited = (until: number) =>
      budgetLimited(freshBudget(), 'core', { by: 'primary', until }, NOW).blocks.core;
    expect(limited(NOW - MINUTE)).toBe(NOW + MINUTE);
    expect(limited(NOW + 1_000 * MINUTE)).toBe(NOW + 65 * MINUTE);
  });
});

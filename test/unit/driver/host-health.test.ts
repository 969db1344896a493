import { expect, test } from 'vitest';
import { createHostHealth } from '../../../src/driver/host-health.ts';
import { fromMilliseconds } from '../../../src/lib/clock.ts';

const LIMITED = { reason: 'limited', text: 'the limit is used up' } as const;
const AWAY = { reason: 'unreachable', text: 'GitHub answered 502' } as const;

test('the health of a host follows the calls', () => {
  const health = createHostHealth(() => null);
  let changes = 0;
  using _ = health.onChange(() => {
    changes += 1;
  });
  const state = () => {
    const { state: now, text } = health.now();
    return `${now}: ${text}`;
  };
  expect(state()).toBe('unknown: not asked yet');
  health.noted('acme/app', undefined);
  expect(state()).toBe('serving: serves');
  health.noted('acme/app', LIMITED);
  expect(state()).toBe('limited: the limit is used up');
  health.noted('acme/lib', AWAY);
  expect(state()).toBe('failing: the limit is used up, and 1 more');
  health.noted('acme/lib', AWAY);
  expect(changes).toBe(3);
  health.noted('acme/app', undefined);
  health.noted('acme/lib', undefined);
  expect(state()).toBe('serving: serves');
  const moved = { severity: 'error', project: 'acme/app', text: 'acme/app is acme/new now' } as const;
  health.misconfigured('acme/app', { ...moved, onlyForCycles: false });
  expect(state()).toBe('failing: acme/app is acme/new now');
  health.misconfigured('topics', { ...moved, severity: 'warning', text: 'one by one', onlyForCycles: true });
  expect(health.now().faults.map(({ text }) => text)).toEqual(['acme/app is acme/new now', 'one by one']);
  health.misconfigured('acme/app', undefined);
  expect(state()).toBe('serving: serves');
});

test('the health of a host counts events that a sweep found, and knows the latest', () => {
  const at = fromMilliseconds;
  const health = createHostHealth(() => at(3_000));
  health.processed(at(2_000), false);
  health.processed(at(1_000), true);
  expect(health.now()).toMatchObject({ lastEventAt: at(2_000), missed: 1, limitedUntil: at(3_000) });
});

test('the health of a host keeps no more repositories than it has to', () => {
  const health = createHostHealth(() => null);
  for (let n = 0; n < 5_000; n += 1) health.noted(`acme/${n}`, AWAY);
  expect(health.now().text).toBe('GitHub answered 502, and 999 more');
});

import { expect, test } from 'vitest';
import { gateOf } from '../../bench/gate-reset.ts';
import { storedGate } from '../../bench/stored-gate.ts';
import { FaultyStore } from '../store/faulty-store.ts';
import { openStand } from './stand.ts';

test('the reset of 20 items with 10 jobs each is one transaction', async () => {
  await using stand = openStand();
  const faulty = new FaultyStore(stand.store);
  const gate = await storedGate(faulty, gateOf(20, 10, 20));
  const before = faulty.calls.multi;
  await gate.reset();
  expect(faulty.calls.multi - before).toBe(1);
  await gate.check();
});

test('the reset of 1 000 items is staged and whole', async () => {
  await using stand = openStand();
  const faulty = new FaultyStore(stand.store);
  const gate = await storedGate(faulty, gateOf(1000, 2, 0));
  const before = faulty.calls.multi;
  const { transactions, bytes } = await gate.reset();
  expect(faulty.calls.multi - before).toBe(transactions);
  // Written down and carried out, two marks, and the cancels.
  expect(transactions).toBeLessThan(2 * Math.ceil(bytes / 2 / 900_000) + 8);
  await gate.check();
});

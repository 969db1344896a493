import { expect, test } from 'vitest';
import { createRefresher } from '../../../src/store/refresher.ts';

const fail = (error: unknown): never => {
  throw error;
};

test('a burst is one reading, and a change during a reading one more', async () => {
  let readings = 0;
  const copy = createRefresher(async () => {
    readings += 1;
    if (readings === 1) for (let i = 0; i < 5; i += 1) void copy.touch();
  }, fail);
  void copy.touch();
  void copy.touch();
  await copy.touch();
  await copy.touch();
  expect(readings).toBe(2);
});

test('a touch resolves only after a reading that began later', async () => {
  let stored = 'old';
  let seen = '';
  const first = Promise.withResolvers<void>();
  const copy = createRefresher(async () => {
    const value = stored;
    if (value === 'old') await first.promise;
    seen = value;
  }, fail);
  const one = copy.touch();
  await Promise.resolve();
  stored = 'new';
  const two = copy.touch();
  first.resolve();
  await one;
  await two;
  expect(seen).toBe('new');
});

test('a failed read is reported and does not stop the next', async () => {
  const errors: unknown[] = [];
  let readings = 0;
  const copy = createRefresher(
    async () => {
      readings += 1;
      if (readings === 1) throw new Error('away');
    },
    error => errors.push(error),
  );
  await copy.touch();
  await copy.touch();
  expect({ readings, errors }).toEqual({ readings: 2, errors: [new Error('away')] });
});

test('nothing is read or reported after its end', async () => {
  const errors: unknown[] = [];
  const reading = Promise.withResolvers<void>();
  let readings = 0;
  const copy = createRefresher(
    () => {
      readings += 1;
      return reading.promise;
    },
    error => errors.push(error),
  );
  const under = copy.touch();
  await Promise.resolve();
  const after = copy.touch();
  copy[Symbol.dispose]();
  reading.reject(new Error('closed'));
  await under;
  await after;
  expect({ readings, errors }).toEqual({ readings: 1, errors: [] });
});

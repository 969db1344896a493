import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonInTurns } from '../../../src/lib/json-in-turns.ts';

test('the text is that of JSON.stringify', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ maxDepth: 10 }), async value => {
      expect(await jsonInTurns(value)).toBe(JSON.stringify(value));
    }),
  );
});

test('members without a value are left out, as there', async () => {
  const value = { a: undefined, b: [undefined, { c: undefined }], '"': null };
  expect(await jsonInTurns(value)).toBe(JSON.stringify(value));
});

test('others have their turn in between', async () => {
  let turns = 0;
  let done = false;
  const count = () => {
    turns += 1;
    if (!done) setImmediate(count);
  };
  setImmediate(count);
  // Each member takes a millisecond.
  const slow = {
    get text() {
      const end = performance.now() + 1;
      while (performance.now() < end);
      return 'x';
    },
  };
  const text = await jsonInTurns(Array.from({ length: 60 }, () => slow));
  done = true;
  expect(JSON.parse(text)).toHaveLength(60);
  expect(turns).toBeGreaterThanOrEqual(4);
});

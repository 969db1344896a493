import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { acquireFence } from '../../../src/store/fence.ts';
import { create, type Operation, set } from '../../../src/store/port.ts';
import { operationBytes } from '../../../src/store/size.ts';
import { splitOperations } from '../../../src/store/split-operations.ts';

const LIMIT = 1000;
const operation: fc.Arbitrary<Operation> = fc
  .tuple(fc.constantFrom('/a', '/bb', '/ccc'), fc.integer({ min: 0, max: 800 }))
  .map(([path, bytes]) => set(path, new Uint8Array(bytes)));
const bytes = (operations: readonly Operation[]): number =>
  operations.reduce((sum, each) => sum + operationBytes(each), 0);

describe('splitting operations', () => {
  test('keeps all of them in order, each multi within the limit and no two that would fit in one', () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 40 }), operations => {
        const chunks = splitOperations(operations, LIMIT);
        expect(chunks.flat()).toEqual(operations);
        for (const [index, chunk] of chunks.entries()) {
          expect(chunk.length).toBeGreaterThan(0);
          expect(bytes(chunk)).toBeLessThanOrEqual(LIMIT);
          const next = chunks[index + 1]?.[0];
          if (next !== undefined) expect(bytes([...chunk, next])).toBeGreaterThan(LIMIT);
        }
      }),
    );
  });

  test('keeps what makes the rest count together, in the last one', () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 20 }), operations => {
        const last = [set('/state', new Uint8Array(300)), set('/pointer', new Uint8Array(300))];
        const chunks = splitOperations(operations, LIMIT, last);
        expect(chunks.at(-1)?.slice(-2)).toEqual(last);
        expect(chunks.flat()).toEqual([...operations, ...last]);
      }),
    );
  });

  test('refuses what cannot be split', () => {
    const huge = set('/huge', new Uint8Array(LIMIT));
    expect(() => splitOperations([set('/a', new Uint8Array(0)), huge], LIMIT)).toThrow(
      expect.objectContaining({ code: 'TooLarge', path: '/huge' }),
    );
    const half = set('/half', new Uint8Array(500));
    expect(() => splitOperations([], LIMIT, [half, half])).toThrow(
      expect.objectContaining({ code: 'TooLarge' }),
    );
  });

  test('makes no multi of nothing', () => {
    expect(splitOperations([])).toEqual([]);
  });

  test('a reset of 5 000 items goes through a fence in a few multis', async () => {
    await using server = openEmbeddedStore({ file: ':memory:' });
    const store = server.connect();
    const fence = await acquireFence(store, {
      lockPath: '/p/lock',
      epochPath: '/p/epoch',
      lastOperationPath: '/p/lastOp',
      guid: 'g',
    });
    const paths = Array.from({ length: 5000 }, (_, index) => `/p/items-${index}`);
    const chunks = [
      ...splitOperations(paths.map(path => create(path, new Uint8Array(500)))),
      ...splitOperations(
        paths.map(path => set(path, new Uint8Array(1500))),
        undefined,
        [create('/p/done')],
      ),
    ];
    for (const [index, chunk] of chunks.entries()) await fence.commit(chunk, `op${index}`);
    expect(chunks.length).toBeLessThanOrEqual(13);
    expect(await store.get('/p/done')).toBeDefined();
  });
});

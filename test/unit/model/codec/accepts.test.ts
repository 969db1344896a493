import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Check } from 'typebox/schema';
import { expect, test } from 'vitest';
import { accepts } from '../../../../src/model/codec/accepts.ts';
import { RECURSIVE_NODES } from '../../../../src/model/codec/schema.ts';
import { queueItemSchema } from '../../../../src/model/codec/schemas/items.ts';

interface Golden {
  readonly nodes: readonly { readonly records?: readonly { readonly k: string; readonly d: unknown }[] }[];
}

const INSTEAD = [null, '', '1', 0, -1, 0.5, true, [], [null], {}, { kind: 'change' }, undefined];

/** The value with each of its parts in turn replaced by each of the values above; undefined: left out. */
function* damaged(value: unknown): Generator<unknown> {
  yield* INSTEAD.filter(each => each !== undefined);
  if (typeof value !== 'object' || value === null) return;
  for (const [name, part] of Object.entries(value))
    for (const inner of [...damaged(part), undefined]) {
      if (Array.isArray(value))
        yield value.flatMap((each, index) =>
          String(index) !== name ? [each] : inner === undefined ? [] : [inner],
        );
      else if (inner === undefined)
        yield Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));
      else yield { ...value, [name]: inner };
    }
}

test('accepts what another reader of JSON Schema accepts: items that are whole, and damaged in one place', () => {
  const file = path.join(import.meta.dirname, '../../../golden/store-0.3.json');
  const golden: Golden = JSON.parse(readFileSync(file, 'utf8'));
  const items = golden.nodes
    .flatMap(({ records = [] }) => records)
    .filter(({ k }) => k === 'queue-item')
    .map(({ d }) => d)
    .toSorted((a, b) => JSON.stringify(a).length - JSON.stringify(b).length);
  const context = Object.fromEntries(RECURSIVE_NODES);
  const { node } = queueItemSchema;
  const counts = { accepted: 0, refused: 0 };
  for (const value of [...items, ...damaged(items[0])]) {
    const expected = Check(context, node, value);
    counts[expected ? 'accepted' : 'refused'] += 1;
    if (accepts(node, value) !== expected) expect.soft(value, `accepted: ${!expected}`).toBe(expected);
  }
  expect(counts.accepted).toBeGreaterThan(50);
  expect(counts.refused).toBeGreaterThan(300);
});

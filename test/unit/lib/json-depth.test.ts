/** How deep a JSON text nests, and how many values it has, is found without parsing it. */
import { describe, expect, test } from 'vitest';
import { isNestedDeeperThan, jsonOutgrows } from '../../../src/lib/json-depth.ts';

describe('the depth of a JSON text', () => {
  test.each([
    ['[[[]]]', 3, false],
    ['[[[]]]', 2, true],
    ['{"a":{"b":[1]}}', 2, true],
    ['["[[[[[["]', 1, false],
    ['["\\"[[[[["]', 1, false],
    ['["\\\\",[]]', 1, true],
    ['[],[],[]', 1, false],
    ['', 0, false],
  ])('of %s is over %i: %s', (text, limit, expected) => {
    expect(isNestedDeeperThan(new TextEncoder().encode(text), limit)).toBe(expected);
  });
});

/** Bytes of which the text is looked at in one go. */
const WINDOW = 65_536;

test.each([-3, -2, -1, 0, 1, 2, 3])('a string goes on behind a window of %i bytes more', more => {
  const padding = 'x'.repeat(WINDOW - 4 + more);
  for (const end of ['', '\\\\', '\\"', '\\\\\\"', `${'"'.padStart(WINDOW * 2, '\\\\')}[[`]) {
    const text = new TextEncoder().encode(`["${padding}${end}[[[", "é", [[1, 2]]]`);
    expect(isNestedDeeperThan(text, 3)).toBe(false);
    expect(isNestedDeeperThan(text, 2)).toBe(true);
    expect(jsonOutgrows(text, { depth: 3, elements: 6 })).toBeUndefined();
    expect(jsonOutgrows(text, { depth: 3, elements: 5 })).toBe('elements');
  }
});

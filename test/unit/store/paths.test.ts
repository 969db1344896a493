import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { requireNodePath } from '../../../src/store/node-path.ts';
import { nameOfNode, nodeName, storePaths } from '../../../src/store/paths.ts';

const name = fc.string({ unit: 'grapheme', minLength: 1 }).filter(text => text.isWellFormed());

describe('node names', () => {
  test('any name becomes one legal segment and comes back as it was', () => {
    fc.assert(
      fc.property(name, text => {
        const segment = nodeName(text);
        expect(segment).not.toContain('/');
        requireNodePath(`/${segment}`);
        expect(nameOfNode(segment)).toBe(text);
      }),
    );
  });

  test.each([
    ['org/project', 'org%2Fproject'],
    ['.', '%2E'],
    ['..', '%2E%2E'],
    ['feature/ü x', 'feature%2F%C3%BC%20x'],
    ['a%2Fb', 'a%252Fb'],
  ])('%s is %s', (text, segment) => {
    expect(nodeName(text)).toBe(segment);
    expect(nameOfNode(segment)).toBe(text);
  });

  test.each(['', '\ud800'])('%j names no node', text => {
    expect(() => nodeName(text)).toThrow(RangeError);
  });
});

describe('store paths', () => {
  const paths = storePaths();

  test('are below the root, which is settable', () => {
    expect(paths.pipeline('acme', 'gate').item('ab')).toBe('/gatehouse/tenants/acme/pipelines/gate/items/ab');
    expect(storePaths('/ci/two').tenant('acme').lock).toBe('/ci/two/tenants/acme/lock');
  });

  test('keep names with slashes in their place', () => {
    expect(paths.cachedConfig('acme', 'github/org/x', 'stable/1', 'ab12')).toBe(
      '/gatehouse/cache/config/acme/github%2Forg%2Fx/stable%2F1@ab12',
    );
    expect(paths.tenant('a/b').triggerQueue).toBe('/gatehouse/events/tenant/a%2Fb/trigger');
  });

  test('are all legal, below the root, and different', () => {
    const all = everyPath(paths).filter(path => path !== paths.root);
    for (const path of all) {
      requireNodePath(path);
      expect(path.startsWith(`${paths.root}/`)).toBe(true);
    }
    expect(all.length).toBeGreaterThan(30);
    expect(all.toSorted()).toEqual([...new Set(all)].toSorted());
  });
});

/** Calls every function with names that are hard, and collects the strings. */
function everyPath(from: object): string[] {
  return Object.values(from).flatMap((value: unknown) => {
    const made: unknown = typeof value === 'function' ? value('a/b', 'c', '..') : value;
    if (typeof made === 'string') return [made];
    return typeof made === 'object' && made !== null ? everyPath(made) : [];
  });
}

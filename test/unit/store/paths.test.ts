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
    expect(paths.cachedConfig('github/org/x', 'stable/1')).toBe(
      '/gatehouse/cache/config/github%2Forg%2Fx/stable%2F1',
    );
    expect(paths.tenant('a/b').triggerQueue).toBe('/gatehouse/events/tenant/a%2Fb/trigger');
  });

  test('are all legal and all different', () => {
    const { item, ...pipeline } = paths.pipeline('t', 'p');
    const all: unknown[] = [
      paths.components('web'),
      ...Object.values(paths.connection('c')),
      ...Object.values(paths.tenant('t')),
      ...Object.values(pipeline),
      item('0'),
      paths.requests('build'),
      paths.requests('merge', 'eu/1'),
      paths.blob('f'.repeat(64)),
      paths.cachedChange('c', 'k'),
      paths.cachedBranches('c', 'p'),
      paths.semaphore('t', 's'),
      paths.spanOutbox,
      paths.historyOutbox,
      paths.reportOutbox('t', 'p'),
      paths.key('c', 'p'),
    ];
    for (const path of all) requireNodePath(String(path));
    expect(new Set(all).size).toBe(all.length);
  });
});

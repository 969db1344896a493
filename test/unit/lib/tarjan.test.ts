import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stronglyConnected } from '../../../src/lib/tarjan.ts';

describe('stronglyConnected', () => {
  it('lists a component before those that lead to it', () => {
    const edges: { readonly [node: string]: readonly string[] } = {
      a: ['b'],
      b: ['c'],
      c: ['b', 'd'],
      d: [],
    };
    expect(stronglyConnected(['a'], node => edges[node] ?? [])).toEqual([['d'], ['c', 'b'], ['a']]);
  });

  it('covers only what the roots lead to and follows a long chain', () => {
    const length = 50_000;
    const components = stronglyConnected([10], node => (node + 1 < length ? [node + 1] : []));
    expect(components).toHaveLength(length - 10);
    expect(components[0]).toEqual([length - 1]);
  });

  it('puts two nodes together exactly when each reaches the other', () => {
    const graph = fc.array(fc.uniqueArray(fc.nat({ max: 7 }), { maxLength: 4 }), {
      minLength: 8,
      maxLength: 8,
    });
    fc.assert(
      fc.property(graph, edges => {
        const nodes = edges.map((_, index) => index);
        const reach = nodes.map(from => reachable(edges, from));
        const components = stronglyConnected(nodes, node => edges[node] ?? []);
        expect(components.flat().sort()).toEqual(nodes);
        const where = new Map(
          components.flatMap((component, index) => component.map(node => [node, index] as const)),
        );
        for (const a of nodes) {
          for (const b of nodes) {
            const together = a === b || (reach[a]?.has(b) === true && reach[b]?.has(a) === true);
            expect(where.get(a) === where.get(b)).toBe(together);
            if (!together && reach[a]?.has(b) === true) expect(where.get(b)).toBeLessThan(where.get(a) ?? 0);
          }
        }
      }),
    );
  });
});

function reachable(edges: readonly (readonly number[])[], from: number): ReadonlySet<number> {
  const seen = new Set<number>();
  const open = [...(edges[from] ?? [])];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    open.push(...(edges[node] ?? []));
  }
  return seen;
}

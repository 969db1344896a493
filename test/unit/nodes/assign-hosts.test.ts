import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { assignHosts, canServe } from '../../../src/nodes/assign-hosts.ts';

const host = (name: string, labels: string, maxParallelJobs = 1) => ({
  name,
  labels: labels.split(' '),
  maxParallelJobs,
});
const build = (uuid: string, labels: string, tenant = 't') => ({
  uuid,
  tenant,
  nodes: labels.split(' ').map((label, index) => ({ name: `n${index}`, label })),
});
const FREE = { places: new Map<string, readonly string[]>(), tenants: new Map<string, number>() };

function given(
  ...[waiting, hosts, inUse = FREE, limits = new Map()]: Partial<Parameters<typeof assignHosts>>
) {
  const grants = assignHosts(waiting ?? [], hosts ?? [], inUse, limits);
  return Object.fromEntries(
    [...grants].map(([uuid, found]) => [uuid, found.map(each => each.host).join(' ')]),
  );
}

describe('hosts', () => {
  test('go to builds in their order, the one with most free places first', () => {
    const hosts = [host('a', 'x', 2), host('b', 'x', 4)];
    const inUse = { ...FREE, places: new Map([['b', ['x']]]) };
    expect(given([build('1', 'x'), build('2', 'x'), build('3', 'y')], hosts, inUse)).toEqual({
      1: 'a',
      2: 'b',
    });
  });

  test('of a build are different ones, also where the first choice is in the way', () => {
    expect(given([build('1', 'x y')], [host('a', 'x y'), host('b', 'x')])).toEqual({ 1: 'b a' });
    expect(given([build('1', 'x x')], [host('a', 'x', 9)])).toEqual({});
  });

  test('that are free are kept for the first build that lacks some, unless it can never be served', () => {
    const hosts = [host('a', 'x'), host('b', 'x')];
    const inUse = { ...FREE, places: new Map([['b', ['x']]]) };
    expect(given([build('1', 'x x'), build('2', 'x')], hosts, inUse)).toEqual({});
    expect(given([build('1', 'x x x'), build('2', 'x')], hosts, inUse)).toEqual({ 2: 'a' });
    expect(canServe(build('1', 'x x x').nodes, hosts)).toBe(false);
  });

  test('of a build are of one zone, the first that has enough', () => {
    const zoned = (name: string, zone: string) => ({ ...host(name, 'x'), zone });
    const hosts = [zoned('a', 'west'), host('b', 'x'), zoned('c', 'east'), zoned('d', 'east')];
    expect(given([build('1', 'x x'), build('2', 'x'), build('3', 'x x')], hosts)).toEqual({
      1: 'd c',
      2: 'a',
    });
    expect(canServe(build('1', 'x x x').nodes, hosts)).toBe(false);
  });

  test('are not given to a tenant at its limit, which delays no other', () => {
    const hosts = [host('a', 'x', 9), host('b', 'x', 9)];
    const inUse = { ...FREE, tenants: new Map([['t', 1]]) };
    const waiting = [build('1', 'x x'), build('2', 'x'), build('3', 'x', 'u')];
    expect(given(waiting, hosts, inUse, new Map([['t', 2]]))).toEqual({ 3: 'a' });
  });

  test('are never given more often than they have places, nor to a node without their label', () => {
    const label = fc.constantFrom('x', 'y', 'z');
    const hosts = fc.array(
      fc.tuple(fc.array(label, { minLength: 1, maxLength: 3 }), fc.integer({ min: 1, max: 3 })),
      { maxLength: 6 },
    );
    const waiting = fc.array(fc.array(label, { minLength: 1, maxLength: 3 }), { maxLength: 12 });
    fc.assert(
      fc.property(hosts, waiting, (places, wanted) => {
        const all = places.map(([labels, most], index) => host(`h${index}`, labels.join(' '), most));
        const builds = wanted.map((labels, index) => build(`${index}`, labels.join(' ')));
        const grants = assignHosts(builds, all, FREE, new Map());
        const used = new Map<string, number>();
        for (const [uuid, found] of grants) {
          expect(found).toHaveLength(builds[Number(uuid)]?.nodes.length ?? -1);
          expect(new Set(found.map(each => each.host)).size).toBe(found.length);
          for (const { node, host: name } of found) {
            used.set(name, (used.get(name) ?? 0) + 1);
            const label = builds[Number(uuid)]?.nodes.find(each => each.name === node)?.label ?? '';
            expect(all.find(each => each.name === name)?.labels).toContain(label);
          }
        }
        for (const { name, maxParallelJobs } of all)
          expect(used.get(name) ?? 0).toBeLessThanOrEqual(maxParallelJobs);
        // The first build that all hosts together could serve gets them.
        const first = builds.find(({ nodes }) => canServe(nodes, all));
        if (first !== undefined) expect(grants.has(first.uuid)).toBe(true);
      }),
    );
  });

  test('of a provider are as many as it has room for, also several for one build', () => {
    const image = { image: 'debian', pullPolicy: 'Always' } as const;
    const pods = { small: { ...image, cpu: 500 }, big: { ...image, cpu: 2000, memory: 100 } };
    const cluster = { ...host('c', 'small big', 4), pods, maxCpu: 3000 };
    const builds = [build('1', 'small small'), build('2', 'big'), build('3', 'small'), build('4', 'small')];
    expect(given(builds, [cluster])).toEqual({ 1: 'c c', 2: 'c' });
    expect(given([build('1', 'small small small small small')], [cluster])).toEqual({});
    const inUse = { ...FREE, places: new Map([['c', ['big', 'small']]]) };
    expect(given([build('1', 'big'), build('2', 'small')], [cluster], inUse)).toEqual({});
    expect(given([build('1', 'small')], [cluster], inUse)).toEqual({ 1: 'c' });
    const both = [host('a', 'small'), cluster];
    expect(given([build('1', 'small small')], both)).toEqual({ 1: 'c a' });
    expect(assignHosts([build('1', 'small small')], both, FREE, new Map()).get('1')).toEqual([
      { node: 'n0', host: 'c', made: true },
      { node: 'n1', host: 'a' },
    ]);
  });

  test('of thousands of waiting builds are found in a few milliseconds', () => {
    const hosts = Array.from({ length: 1000 }, (_, index) => host(`h${index}`, `l${index % 50}`));
    const waiting = Array.from({ length: 10_000 }, (_, index) => build(`${index}`, `l${index % 50}`));
    const inUse = { ...FREE, places: new Map(hosts.map(({ name }) => [name, ['']])) };
    const from = process.cpuUsage();
    expect(given(waiting, hosts, inUse)).toEqual({});
    expect(process.cpuUsage(from).user / 1000).toBeLessThan(500);
  });
});

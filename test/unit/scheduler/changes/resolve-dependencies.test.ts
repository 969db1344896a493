import { describe, expect, test } from 'vitest';
import { parseNanoseconds } from '../../../../src/lib/clock.ts';
import { type ChangeKey, type ChangeRecord, changeKey } from '../../../../src/model/change.ts';
import { type ProjectKey, projectKey } from '../../../../src/model/project.ts';
import {
  createDependencyResolver,
  HostNotAsked,
} from '../../../../src/scheduler/changes/resolve-dependencies.ts';
import { proposedChange } from '../../../fake/queue-item.ts';

class HostAway extends Error {
  readonly retryable = true;
}

const { signal } = new AbortController();

function record(...lines: readonly string[]): ChangeRecord {
  return {
    change: proposedChange('master/own'),
    status: 'open',
    dependsOn: [],
    unresolvedDependencies: lines,
    facts: {},
    fetchedAt: parseNanoseconds('1'),
  };
}

const key = (connection: string, id: string): ChangeKey =>
  changeKey(projectKey({ connection, name: 'acme/lib' }), id);

/** Connections that know these values; a value known as null cannot be asked for. */
function resolver(known: { readonly [connection: string]: { readonly [value: string]: string | null } }) {
  const connections = new Map(
    Object.entries(known).map(([name, values]) => [
      name,
      {
        source: {
          async changeOfUrl(value: string, projects: ReadonlySet<ProjectKey>) {
            if (values[value] === null) throw new HostAway('no route to host');
            const id = values[value];
            return id === undefined || projects.size === 0 ? undefined : key(name, id);
          },
        },
      },
    ]),
  );
  const held = new Set(Object.keys(known));
  const { resolve } = createDependencyResolver({
    connections,
    projects: name => new Set(held.has(name) ? [projectKey({ connection: name, name: 'acme/lib' })] : []),
  });
  return { resolve: (of: ChangeRecord) => resolve(of, signal), held };
}

describe('lines of a record', () => {
  test('name changes of every connection, in their order, after what the driver knows', async () => {
    const { resolve } = resolver({ local: { one: '1' }, far: { two: '2' } });
    const parent = key('local', 'parent');
    const resolved = await resolve({ ...record('two', 'nothing', 'one'), dependsOn: [parent] });
    expect(resolved.dependsOn).toEqual([parent, key('far', '2'), key('local', '1')]);
    expect(resolved.unresolvedDependencies).toEqual(['nothing']);
  });

  test('mean a change of the own connection before any other', async () => {
    const { resolve } = resolver({ far: { short: '2' }, local: { short: '1' } });
    expect((await resolve(record('short'))).dependsOn).toEqual([key('local', '1')]);
  });

  test('stay as written when several other connections know them', async () => {
    const { resolve } = resolver({ local: {}, far: { short: '2' }, third: { short: '3' } });
    const before = record('short');
    expect(await resolve(before)).toBe(before);
  });

  test('are looked at again: the project may be in a tenant by now', async () => {
    const { resolve, held } = resolver({ local: {}, far: { url: '2' } });
    held.delete('far');
    const before = await resolve(record('url'));
    expect(before.unresolvedDependencies).toEqual(['url']);
    held.add('far');
    expect(await resolve(before)).toMatchObject({ dependsOn: [key('far', '2')], unresolvedDependencies: [] });
  });

  test('are not known while the host that has to be asked is away', async () => {
    const { resolve } = resolver({ local: {}, far: { short: null } });
    await expect(resolve(record('short'))).rejects.toThrow('cannot ask far which change "short" names');
    await expect(resolve(record('short'))).rejects.toBeInstanceOf(HostNotAsked);
  });

  test('that name the change itself ask for nothing', async () => {
    const own = record('own').change.key;
    const resolve = createDependencyResolver({
      connections: new Map([['local', { source: { changeOfUrl: async () => own } }]]),
      projects: () => new Set(),
    });
    expect(await resolve.resolve(record('own'), signal)).toMatchObject({
      dependsOn: [],
      unresolvedDependencies: [],
    });
  });
});

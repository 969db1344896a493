/** The listener against the fake Gerrit: what a stream announces, and what is looked up where it did not. */
import { describe, expect, test, vi } from 'vitest';
import { readGerritNotification } from '../../drivers/gerrit/intake/notification.ts';
import { changeOf, type ListenerWorld, openListenerWorld } from './listener-world.ts';

const HOUR = 3_600_000;
vi.setConfig({ testTimeout: 60_000 });

/** With an open stream, and nothing left to look up. */
async function listening(facts = {}): Promise<ListenerWorld> {
  const world = await openListenerWorld();
  await world.gerrit.project('acme/app');
  await world.gerrit.project('others/lib');
  world.listen(facts);
  await world.until(() => world.ssh.streams() === 1 && world.passes.length >= 2);
  await world.pass(10_000, () => world.passes.length >= 3 && world.clock.waits().some(ms => ms > 10_000));
  return world;
}

const kinds = ({ stored }: ListenerWorld) =>
  stored.map(({ payload }) => {
    const { foundBy, about } = readGerritNotification(payload) ?? {};
    return `${foundBy} ${about?.kind}`;
  });

describe('while the stream is open', () => {
  test('a change is stored when it is pushed, and other projects cost nothing', async () => {
    await using world = await listening();
    // At the start and after the stream was opened, no more.
    expect(world.topicsAsked).toBe(2);
    const before = world.stored.length;
    const asked = world.gerrit.requests.length;
    await world.gerrit.push({ project: 'others/lib', files: { a: 'a\n' } });
    const { number } = await world.gerrit.push({ project: 'acme/app', files: { a: 'a\n' } });
    await world.until(() => world.stored.length > before);
    expect(world.stored.slice(before)).toMatchObject([
      {
        type: 'patchset-created',
        payload: {
          event: 'patchset-created',
          foundBy: 'stream',
          project: 'acme/app',
          about: { kind: 'change', number, patchset: 1 },
        },
      },
    ]);
    expect(world.gerrit.requests.length).toBe(asked);
  });

  test('doubled, swapped and half lines lose nothing', async () => {
    await using world = await listening();
    const before = world.stored.length;
    world.ssh.stream.double(4);
    const first = await world.gerrit.push({ project: 'acme/app', files: { a: 'a\n' } });
    world.ssh.stream.swap();
    await world.gerrit.comment(first, 'bob', 'one');
    world.ssh.stream.halve();
    await world.gerrit.comment(first, 'bob', 'two');
    world.ssh.stream.whole();
    world.ssh.sendRaw('garbage\n');
    const second = await world.gerrit.push({ project: 'acme/app', files: { b: 'b\n' } });
    await world.until(() => world.stored.some(event => changeOf(event) === second.number));
    const types = world.stored.slice(before).map(({ type }) => type);
    expect(new Set(types)).toEqual(new Set(['patchset-created', 'comment-added']));
    expect(world.stored.filter(({ type }) => type === 'comment-added').length).toBeGreaterThanOrEqual(2);
    expect(world.warnings).toEqual([expect.stringMatching(/is none of Gerrit.*it is no JSON/)]);
  });

  test('a change that was moved, of which the stream says nothing, is found within ten minutes', async () => {
    await using world = await listening();
    await world.gerrit.createBranch('acme/app', 'stable');
    const change = await world.gerrit.push({ project: 'acme/app', files: { a: 'a\n' } });
    await world.until(() => world.stored.some(event => changeOf(event) === change.number));
    world.clock.advance(1_000);
    const before = world.stored.length;
    await world.gerrit.move(change, 'stable');
    await world.pass(60_000, () => world.stored.length > before);
    expect(kinds(world).at(-1)).toBe('poll change');
  });
});

describe('after a gap', () => {
  test('a change whose history is too long to be read keeps no other one back', async () => {
    await using world = await openListenerWorld(40_000);
    const { gerrit } = world;
    await gerrit.project('acme/app');
    const wanted: number[] = [];
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
      const change = await gerrit.push({ project: 'acme/app', files: { [name]: name } });
      if (name !== 'c') wanted.push(change.number);
      else for (let count = 0; count < 20; count += 1) await gerrit.comment(change, 'bob', 'x'.repeat(4_000));
      world.clock.advance(1_000);
    }
    world.listen({ pollInterval: 60 });
    await world.until(() => world.passes.length > 0);
    const found = world.stored.map(changeOf).filter(number => number !== undefined);
    expect(found.toSorted((a, b) => a - b)).toEqual(wanted);
    expect(world.warnings).toEqual([expect.stringMatching(/longer history than can be read/)]);
    // Fewer at a time where it has to be, and more again behind that.
    expect(gerrit.count('changes/query')).toBeLessThan(15);
  });

  test('of an hour with 200 updates each is found once, with at most 5 requests for 100 changes', async () => {
    await using world = await listening({ pollInterval: (2 * HOUR) / 1000 });
    world.ssh.network.refuse(true);
    world.ssh.network.drop();
    await world.until(() => world.state()?.connected === false);
    const wanted: number[] = [];
    const asked = world.gerrit.requests.length;
    const before = world.stored.length;
    for (let count = 0; count < 200; count++) {
      const { number } = await world.gerrit.push({ project: 'acme/app', files: { [`f${count}`]: 'x\n' } });
      wanted.push(number);
      world.clock.advance(HOUR / 200);
    }
    world.ssh.network.refuse(false);
    await world.pass(60_000, () => world.state()?.connected === true);
    await world.until(() => world.stored.length - before >= 200);
    const passes = world.passes.length;
    await world.pass(10_000, () => world.passes.length > passes);
    const found = world.stored.slice(before).map(changeOf);
    expect(found.filter(number => number !== undefined).toSorted((a, b) => a - b)).toEqual(wanted);
    expect(world.gerrit.requests.length - asked).toBeLessThanOrEqual(10);
    expect(new Set(world.listed)).toEqual(new Set(wanted));
    expect(world.state()).toMatchObject({ gaps: 1 });
  }, 240_000);

  test('over a restart, what happened meanwhile is found, and nothing that was known before', async () => {
    await using world = await listening();
    const old = await world.gerrit.push({ project: 'acme/app', files: { a: 'a\n' } });
    await world.until(() => world.stored.some(event => changeOf(event) === old.number));
    world.known.add(old.number);
    await world.stop();
    world.clock.advance(HOUR);
    const fresh = await world.gerrit.push({ project: 'acme/app', files: { b: 'b\n' } });
    const before = world.stored.length;
    world.listen();
    await world.until(() => world.stored.slice(before).some(event => changeOf(event) === fresh.number));
    expect(world.stored.slice(before).map(changeOf)).not.toContain(old.number);
    expect(kinds(world).slice(before)).toContain('catch-up change');
  });

  test('a branch that moved in it is found', async () => {
    await using world = await listening();
    await world.gerrit.createBranch('acme/app', 'stable');
    await world.until(() => kinds(world).includes('stream ref'));
    world.ssh.network.refuse(true);
    world.ssh.network.drop();
    await world.until(() => world.state()?.connected === false);
    await world.gerrit.createBranch('acme/app', 'unannounced');
    world.ssh.network.refuse(false);
    await world.pass(1_000, () =>
      world.stored.some(({ payload }) => JSON.stringify(payload).includes('refs/heads/unannounced')),
    );
    expect(kinds(world).filter(kind => kind.endsWith(' ref'))).toHaveLength(2);
  });

  test('what the store did not take is looked up', async () => {
    await using world = await listening();
    let refused = 0;
    world.emitting = async ({ type }) => {
      if (type === 'patchset-created') {
        refused += 1;
        throw new Error('the store is away');
      }
    };
    const change = await world.gerrit.push({ project: 'acme/app', files: { a: 'a\n' } });
    await world.until(() => refused === 1);
    await world.pass(1_000, () => world.stored.some(event => changeOf(event) === change.number));
    expect(kinds(world).at(-1)).toMatch(/^(catch-up|poll) change$/);
    expect(world.warnings[0]).toMatch(/an event could not be stored: Error: the store is away/);
  });
});

describe('without a stream', () => {
  test('changes and branches are found at intervals', async () => {
    await using world = await openListenerWorld();
    await world.gerrit.project('acme/app');
    world.listen({ streams: false });
    await world.pass(1_000, () => world.passes.length >= 2);
    const change = await world.gerrit.push({ project: 'acme/app', files: { a: 'a\n' } });
    await world.gerrit.createBranch('acme/app', 'stable');
    await world.pass(60_000, () => world.stored.some(event => changeOf(event) === change.number));
    await world.until(() => kinds(world).includes('poll ref'));
    expect(world.ssh.network.accepted()).toBe(0);
  });

  test('what the account may not do is said, and Gerrit is asked at intervals', async () => {
    await using world = await openListenerWorld();
    await world.gerrit.project('acme/app');
    world.gerrit.world.accounts.get('gatehouse')?.capabilities.delete('streamEvents');
    world.listen();
    await world.until(() => world.warnings.length > 0);
    expect(world.warnings[0]).toMatch(/stream events not permitted: give the account/);
    const change = await world.gerrit.push({ project: 'acme/app', files: { a: 'a\n' } });
    await world.pass(30_000, () => world.stored.some(event => changeOf(event) === change.number));
    expect(world.state()).toMatchObject({ connected: false, gaps: 0 });
  });
});

test('at the first look of a project its open changes are remembered without consequences', async () => {
  await using world = await openListenerWorld();
  await world.gerrit.project('acme/app');
  const change = await world.gerrit.push({ project: 'acme/app', files: { a: 'a\n' } });
  world.listen({ streams: false });
  await world.until(() => world.stored.length >= 2);
  expect(world.stored.map(({ payload }) => readGerritNotification(payload)?.about)).toMatchObject([
    { kind: 'change', number: change.number, isFirstLook: true },
    { kind: 'project' },
  ]);
});

/**
 * Slots of semaphores in the store, with whole schedulers that die at any write that concerns them: at the end nothing is held, and
 * no two builds held one slot at a time. And the sweeper, for what only a damaged store leaves behind.
 */
import { describe, expect, test } from 'vitest';
import type { Build } from '../../../src/model/build.ts';
import { createSlotSweeper } from '../../../src/scheduler/care/sweep-semaphores.ts';
import { ensureNode } from '../../../src/store/ensure-node.ts';
import { create, type Operation, set } from '../../../src/store/port.ts';
import { slotPath, takenSlots } from '../../../src/store/semaphore-slots.ts';
import { LAYOUT, openSchedulers, type Schedulers } from './schedulers.ts';
import { eventually, openStand } from './stand.ts';

const ONE_AT_A_TIME = LAYOUT.replace('    name: unit\n', '    name: unit\n    semaphores: [db, cache]\n');
const TWO_AT_A_TIME = `${ONE_AT_A_TIME}
- semaphore: {name: db, max: 2}
- semaphore: {name: cache, max: 2}
`;
const CHANGES = ['login', 'signup', 'logout'];

function concernsSemaphores(operations: readonly Operation[]): boolean {
  return operations.some(({ path }) => path.includes('/semaphores/'));
}

const directory = ({ paths }: Schedulers) => paths.semaphore('acme', 'tenant', 'db');

/** Builds of all changes in the order in which they began, with the slots that they held. */
async function builds(site: Schedulers): Promise<readonly Build[]> {
  const rows = await site.history();
  return rows
    .flatMap(row => (row.kind === 'item' ? row.item.buildset.builds : []))
    .toSorted((a, b) => (BigInt(a.requestedAt) < BigInt(b.requestedAt) ? -1 : 1));
}

function overlapping(all: readonly Build[]): readonly Build[] {
  return all.filter((build, index) => {
    const before = all[index - 1];
    if (before?.state.state !== 'completed') return before !== undefined;
    return BigInt(build.requestedAt) < BigInt(before.state.at);
  });
}

async function allLand(site: Schedulers): Promise<void> {
  for (const change of CHANGES) await site.approve(change);
  await site.quiet();
}

describe('jobs with semaphores', () => {
  test('run one at a time, and free their slots in the commits that end them', async () => {
    await using site = await openSchedulers(ONE_AT_A_TIME);
    const one = await site.start('one');
    await one.scheduler.ready;
    await allLand(site);
    const all = await builds(site);
    expect(all).toHaveLength(3);
    expect(overlapping(all)).toEqual([]);
    expect(all.map(({ semaphores }) => semaphores)).toEqual(
      all.map(() => [
        { name: 'cache', scope: 'tenant', slot: 0 },
        { name: 'db', scope: 'tenant', slot: 0 },
      ]),
    );
    expect(await site.store.children(directory(site))).toEqual([]);
    const waits = (await site.spans()).filter(
      span => span.attributes['gatehouse.span.type'] === 'SemaphoreWait',
    );
    expect(waits.map(({ attributes }) => attributes)).toMatchObject([
      {
        'gatehouse.semaphores': ['cache', 'db'],
        'gatehouse.semaphore.holders': expect.arrayContaining([expect.stringContaining('unit of')]),
        'gatehouse.result': 'SUCCESS',
      },
      { 'gatehouse.result': 'SUCCESS' },
    ]);
    await one.stop();
  });

  test('wake up when another pipeline or an operator frees a slot', async () => {
    await using site = await openSchedulers(ONE_AT_A_TIME);
    await ensureNode(site.store, directory(site));
    const foreign = `${directory(site)}/0`;
    await site.store.multi([create(foreign)]);
    const one = await site.start('one');
    await one.scheduler.ready;
    await site.approve('login');
    await eventually(
      async () => (await site.items())[0]?.timeline.at(-1)?.state === 'semaphore',
      'the change waits for the semaphore',
    );
    await site.store.multi([{ kind: 'delete', path: foreign, version: -1 }]);
    await site.quiet();
    expect(await builds(site)).toHaveLength(1);
    await one.stop();
  });

  test('have more room as soon as a layout with another max is in force', async () => {
    await using site = await openSchedulers(ONE_AT_A_TIME);
    site.holdBuilds();
    const one = await site.start('one');
    await one.scheduler.ready;
    for (const change of CHANGES) await site.approve(change);
    await eventually(
      async () => (await site.items()).filter(({ buildset }) => buildset.semaphoreWaits).length === 2,
      'two wait',
    );
    await site.push(TWO_AT_A_TIME);
    await eventually(async () => (await takenSlots(site.store, directory(site))).size === 2, 'two run');
    site.releaseBuilds();
    await site.quiet();
    expect(await site.store.children(directory(site))).toEqual([]);
    await one.stop();
  });

  test('leak nothing and hold nothing twice, wherever a scheduler dies', async () => {
    const writes: number[] = [];
    {
      await using site = await openSchedulers(ONE_AT_A_TIME);
      const one = await site.start('one', {
        before: (index, operations) => {
          if (concernsSemaphores(operations)) writes.push(index);
        },
      });
      await one.scheduler.ready;
      await allLand(site);
      await one.stop();
    }
    expect(writes.length).toBeGreaterThan(3);
    for (const at of writes)
      for (const when of ['before', 'after'] as const) {
        await using site = await openSchedulers(ONE_AT_A_TIME);
        const one = await site.start('one', { dies: { at, when } });
        await one.scheduler.ready;
        const two = await site.start('two');
        await two.scheduler.ready;
        await allLand(site);
        const all = await builds(site);
        const where = `${when} write ${at}`;
        expect(
          all.map(({ state }) => state),
          where,
        ).toMatchObject(all.map(() => ({ result: 'SUCCESS' })));
        expect(overlapping(all), where).toEqual([]);
        // The sweeper of the second may have removed the directory.
        expect((await site.store.children(directory(site))) ?? [], where).toEqual([]);
        await one.kill();
        await two.stop();
      }
  }, 120_000);
});

describe('the sweeper', () => {
  const hold = (name: string, slot: number) => ({ name, scope: 'tenant', slot }) as const;

  test('removes a slot that no build holds at two sweeps in a row, and directories without any', async () => {
    await using stand = openStand();
    const { store, paths } = stand;
    const [leaked, held, reused, idle] = [hold('db', 0), hold('db', 1), hold('db', 2), hold('idle', 0)].map(
      each => slotPath(paths, 'acme', each),
    );
    if (leaked === undefined || held === undefined || reused === undefined || idle === undefined)
      throw new Error();
    const parentOf = (path: string) => path.slice(0, path.lastIndexOf('/'));
    for (const path of [leaked, idle]) await ensureNode(store, parentOf(path));
    await store.multi([create(leaked), create(held), create(reused)]);
    await store.multi([create(`${parentOf(leaked)}/3`, undefined, { ephemeral: true })]);
    const sweeper = createSlotSweeper(store, paths);
    const sweep = async () => sweeper.unused(await sweeper.candidates(), new Set([held]));
    const removals = (await sweep()).map(({ path }) => path);
    expect(removals).toEqual([parentOf(idle)]);
    await store.multi([set(reused, new Uint8Array(1))]);
    expect(await sweep()).toEqual([
      { kind: 'delete', path: leaked, version: 0 },
      { kind: 'delete', path: parentOf(idle), version: -1 },
    ]);
  });
});

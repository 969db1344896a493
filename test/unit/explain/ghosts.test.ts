import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { delayedItem } from '../../../src/explain/delayed-item.ts';
import { delaysOf } from '../../../src/explain/delays.ts';
import { gatePicture } from '../../../src/explain/gate-picture.ts';
import { ghostsWithout, landedByQueue } from '../../../src/explain/ghosts.ts';
import { worstCulprits } from '../../../src/explain/worst-culprits.ts';
import type { ResetCause } from '../../../src/model/cause.ts';
import type { ItemStateName } from '../../../src/model/item-states.ts';
import { itemStory, at as later } from '../../fake/queue-item.ts';
import { finishedItems, gateItems, NOW } from '../web/sample-gate.ts';
import { at, sampleItem, uuidOf } from '../web/sample-item.ts';

interface Life {
  readonly name: string;
  readonly queue?: string;
  /** When each try began, in seconds. */
  readonly tries: readonly number[];
  /** Who ended each but the last. */
  readonly by?: readonly string[];
  readonly ready: number;
  readonly landed: number;
}

const resetBy = (culprit: string, seconds: number): ResetCause => ({
  code: 'item-ahead-failed',
  at: at(seconds),
  culprit: { item: uuidOf(culprit), change: `change ${culprit}`, job: 'unit' },
});

function lived({ name, tries, by = [], ready, landed, queue = 'q' }: Life) {
  const item = sampleItem(name, {
    ...{ at: tries[0] ?? 0, queue },
    buildsets: tries.map((begin, index) => {
      const [end, culprit] = [tries[index + 1], by[index]];
      return end === undefined || culprit === undefined
        ? { at: begin, stage: 'complete' as const, endedAt: ready }
        : { at: begin, supersededBy: resetBy(culprit, end) };
    }),
    timeline: [['running', tries[0] ?? 0]],
    left: { at: landed, reason: 'reported', result: 'SUCCESS' },
  });
  return delayedItem(item, NOW);
}

const secondsOf = (time: string) => Number((BigInt(time) - BigInt(at(0))) / 1_000_000n) / 1000;
const ghosts = (culprit: string, ...lives: readonly Life[]) =>
  ghostsWithout(landedByQueue(lives.map(lived)), uuidOf(culprit)).map(each => [
    lives.find(({ name }) => uuidOf(name) === each.item)?.name,
    secondsOf(each.at),
  ]);

describe('the ghost of an item', () => {
  it('begins with the try that the culprit ended, and takes as long as the last one', () => {
    const b = { name: 'b', tries: [0, 60], by: ['a'], ready: 160, landed: 165 };
    expect(ghosts('a', b)).toEqual([['b', 105]]);
  });

  it('waits for the ghost of the item that landed before it, and rests as long as it did', () => {
    const first = { name: 'b', tries: [0, 60], by: ['a'], ready: 160, landed: 165 };
    // Was not reset, and waited 100 seconds for the one ahead.
    const second = { name: 'c', tries: [0], ready: 65, landed: 168 };
    expect(ghosts('a', first, second)).toEqual([
      ['b', 105],
      ['c', 108],
    ]);
  });

  it('is no earlier for what another queue landed', () => {
    const first = { name: 'b', tries: [0, 60], by: ['a'], ready: 160, landed: 165 };
    const second = { name: 'c', queue: 'other', tries: [0], ready: 65, landed: 168 };
    expect(ghosts('a', first, second)).toEqual([['b', 105]]);
  });

  it('is not there where another culprit reset the item later on', () => {
    const b = { name: 'b', tries: [0, 60, 100], by: ['a', 'x'], ready: 200, landed: 200 };
    expect(ghosts('a', b)).toEqual([]);
    expect(ghosts('x', b)).toEqual([['b', 160]]);
    expect(ghosts('a', { ...b, by: ['a', 'a'] })).toEqual([['b', 100]]);
  });

  it('never lands later than the item, and lands with it where the culprit did nothing', () => {
    const life = fc.record({
      steps: fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 4 }),
      by: fc.array(fc.constantFrom('a', 'x'), { minLength: 3, maxLength: 3 }),
      tested: fc.integer({ min: 1, max: 50 }),
      waited: fc.nat(50),
    });
    fc.assert(
      fc.property(fc.array(life, { minLength: 1, maxLength: 6 }), lives => {
        const items = lives.map(({ steps, by, tested, waited }, index) => {
          const tries = steps.map((_, step) => steps.slice(0, step + 1).reduce((sum, each) => sum + each, 0));
          const ready = (tries.at(-1) ?? 0) + tested;
          return { name: `i${index}`, tries, by, ready, landed: ready + waited };
        });
        expect(ghosts('innocent', ...items)).toEqual([]);
        for (const [name, when] of ghosts('a', ...items))
          expect(when).toBeLessThan(items.find(each => each.name === name)!.landed);
      }),
      { numRuns: 60 },
    );
  });
});

describe('the worst culprit', () => {
  it('is the one that stole most time from others, with the build that failed', () => {
    const items = [...finishedItems(), ...gateItems()].map(item => delayedItem(item, NOW));
    const { culprits, ghosts: found } = worstCulprits(items);
    expect(culprits).toMatchObject([
      { item: uuidOf('schema'), job: 'unit-tests', resets: 1, delayed: 1, stolen: '90000000000' },
      // What it reset has not landed yet.
      { item: uuidOf('fast-login'), resets: 3, delayed: 0, stolen: '0' },
    ]);
    expect(culprits[0]?.build).toBe(uuidOf('schema', 'build', '1', 'unit-tests', '1'));
    expect([...found]).toEqual([
      [uuidOf('metrics'), expect.objectContaining({ at: at(-132), culprit: uuidOf('schema') })],
    ]);
  });
});

describe('the picture of a gate', () => {
  const items = [...finishedItems(), ...gateItems()].map(item => delayedItem(item, NOW));

  it('has a row for each item in the order of entering, the newest page first', () => {
    const changes = (limit: number, skip: number) =>
      gatePicture(items, new Map(), { limit, skip }).rows.map(
        ({ change }) => change.split('/').at(-1)?.split(',')[0],
      );
    expect(changes(3, 0)).toEqual(['fix-typo', 'api-v2', 'docs']);
    expect(changes(3, 3)).toEqual(['retry-budget', 'fast-login', 'dark-mode']);
    expect(changes(3, 6)).toEqual(['schema', 'metrics', 'spike']);
    expect(changes(3, 9)).toEqual([]);
    expect(changes(0, 0)).toEqual([]);
  });

  it('shows the resets with their culprits, and the states without a gap', () => {
    const { rows, items: all } = gatePicture(items, new Map(), { limit: 100, skip: 0 });
    expect(all).toBe(9);
    const dark = rows.find(({ item }) => item === uuidOf('dark-mode'));
    expect(dark?.resets).toEqual([{ at: at(262), code: 'item-ahead-failed', culprit: uuidOf('fast-login') }]);
    expect(dark?.states[0]).toEqual({ state: 'merge', from: dark?.enqueuedAt });
    expect(dark?.result).toBeNull();
  });

  it('leaves the shortest states of a restless item out, and none of the first', () => {
    const timeline = Array.from({ length: 200 }, (_, index): readonly [ItemStateName, number] => [
      index % 2 === 0 ? 'executor' : 'running',
      index + (index % 10 === 0 ? 0.5 : 0),
    ]);
    const restless = sampleItem('restless', { at: 0, buildsets: [{ at: 0 }], timeline });
    const [row] = gatePicture([delayedItem(restless, NOW)], new Map(), { limit: 1, skip: 0 }).rows;
    expect(row?.states).toHaveLength(40);
    expect(row?.states[0]?.from).toBe(row?.enqueuedAt);
  });
});

it('executors are used by the builds of the period, and no longer than it lasts', async () => {
  const items = [...finishedItems(), ...gateItems()].map(item => delayedItem(item, NOW));
  const { use, load } = await delaysOf(items, { since: at(0), covered: at(0), until: NOW });
  expect(use.hosts).toEqual([]);
  expect(use.executors).toMatchObject([{ name: 'executor-1' }]);
  const mean = load.reduce((sum, { builds }) => sum + builds, 0) / load.length;
  expect(mean).toBeCloseTo(use.executors[0]?.mean ?? 0, 1);
});

it('the load has the narrowest window that an item entered, where one had to wait for it', async () => {
  const stories = [5, 3, 0].map((window, index) =>
    itemStory({ seed: `waits-${index}` })
      .wait(1_000)
      .note('window-entered', { window })
      .merge(),
  );
  const items = stories.map(({ item }) => delayedItem(item, later(48_000)));
  const { load } = await delaysOf(items, { since: later(0), covered: later(0), until: later(48_000) });
  expect(load.map(({ window }) => window)).toEqual(load.map((_, index) => (index === 1 ? 3 : null)));
});

it('the load has the window of every moment, as the items that left and the queues now say', async () => {
  const left = (ms: number, window: number) => {
    const { item } = itemStory({ seed: `left-${ms}` })
      .wait(ms)
      .leave();
    const { phase } = item;
    if (phase.phase !== 'left') throw new Error('it has left');
    return delayedItem({ ...item, phase: { ...phase, window } }, later(48_000));
  };
  const items = [left(30_000, 4), left(10_000, 8), left(20_500, 2)];
  const widths = new Map([[items[0]!.queue, 5]]);
  const question = { since: later(0), covered: later(0), until: later(48_000) };
  const { load } = await delaysOf(items, question, { limit: 0, skip: 0 }, widths);
  const expected = load.map((_, index) => (index < 10 ? 8 : index <= 20 ? 2 : index <= 30 ? 4 : 5));
  expect(load.map(({ window }) => window)).toEqual(expected);
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { flakesOf } from '../../../src/explain/delay-jobs.ts';
import { delayedItem } from '../../../src/explain/delayed-item.ts';
import { delaysOf } from '../../../src/explain/delays.ts';
import { delaysLines } from '../../../src/explain/delays-text.ts';
import { type Nanoseconds, parseNanoseconds } from '../../../src/lib/clock.ts';
import { derivedUuid } from '../../../src/lib/ids.ts';
import { sum } from '../../../src/lib/time-window.ts';
import { failedStory, randomStory, resetAndMergedStory } from '../../fake/item-stories.ts';
import { at, itemStory } from '../../fake/queue-item.ts';

const NOW = at(240_000);
const question = { since: at(0), covered: at(0), until: NOW };

/** Half a minute of testing, then still there. */
function openStory() {
  return itemStory({ seed: 'open' })
    .wait(200_000)
    .merge()
    .wait(9)
    .merged()
    .freeze(['a'])
    .wait(300)
    .start('a')
    .wait(100);
}

function sample() {
  const stories = [resetAndMergedStory(), failedStory({ pipeline: 'gate' }), openStory()];
  return delaysOf(
    stories.map(story => delayedItem(story.item, NOW)),
    question,
  );
}

describe('the delays of a pipeline', () => {
  it('count what left and what is there, and add the states up to the lives of the items', async () => {
    const delays = await sample();
    expect(delays).toMatchObject({
      items: 3,
      queued: 1,
      left: 2,
      truncated: false,
      leftPerHour: 30,
      succeededPerHour: 15,
      results: [
        { result: 'SUCCESS', items: 1 },
        { result: 'FAILURE', items: 1 },
      ],
    });
    expect(sum(delays.states.map(state => state.duration))).toBe(delays.time);
    expect(delays.took).toMatchObject({ p50: '12321500000', longest: '208555000000' });
    expect(delays.states.find(({ state }) => state === 'change-ahead')).toMatchObject({
      kind: 'wait',
      items: 1,
      duration: '48000000000',
      perItem: '16000000000',
      p50: '48000000000',
    });
  });

  it('name the job, the change and the project to blame for resets, with the build time they cost', async () => {
    const { resets } = await sample();
    expect(resets).toMatchObject({ count: 1, items: 1, lostBuildTime: '45400000000' });
    expect(resets.lostShare).toBeCloseTo(45.4 / (Number(resets.buildTime) / 1e9), 9);
    const blamed = { resets: 1, items: 1, lostBuildTime: '45400000000' };
    expect(resets.byJob).toEqual([{ job: 'unit-tests', ...blamed }]);
    expect(resets.byProject).toEqual([{ project: 'acme/app', ...blamed }]);
    expect(resets.byCause).toEqual([{ code: 'item-ahead-failed', ...blamed }]);
    expect(resets.byChange).toMatchObject([
      { change: 'acme/app master/broken,deadbeef', job: 'unit-tests', ...blamed },
    ]);
  });

  it('list the resets one by one, with the build that caused each', async () => {
    const [reset, ...more] = (await sample()).resets.list;
    expect(more).toEqual([]);
    expect(reset).toMatchObject({
      code: 'item-ahead-failed',
      lostBuildTime: '45400000000',
      culprit: { change: 'acme/app master/broken,deadbeef', job: 'unit-tests' },
    });
    expect(reset?.item).toBe(resetAndMergedStory().item.uuid);
  });

  it('keep the costliest resets when there are too many, in the order of time', async () => {
    const one = delayedItem(resetAndMergedStory().item, NOW);
    const resets = Array.from({ length: 150 }, (_, index) => ({
      ...one.resets[0]!,
      at: at(150 - index),
      lostBuildTime: parseNanoseconds(String(index % 3 === 0 ? 1_000 : index * 1_000_000)),
    }));
    const { list } = (await delaysOf([{ ...one, resets }], question)).resets;
    expect(list).toHaveLength(100);
    expect(list.every(({ lostBuildTime }) => lostBuildTime !== '1000')).toBe(true);
    expect(list.map(each => each.at)).toEqual(list.map(each => each.at).toSorted());
  });

  it('name jobs that failed and passed in the same tested state, the worst first', async () => {
    const flaky = (seed: string, states: ReadonlyMap<number, string>, ...jobs: readonly string[]) => {
      const one = delayedItem(failedStory({ pipeline: 'gate', seed }).item, NOW);
      const builds = jobs.map((job, index) => ({
        ...{
          uuid: derivedUuid(seed, job),
          job,
          buildset: 1,
          attempt: 1,
          voting: true,
          worker: 'w',
          usual: null,
        },
        ...{
          result: 'FAILURE' as const,
          waited: at(0),
          ran: parseNanoseconds(String(1_000_000_000 * (index + 1))),
        },
      }));
      const passed = builds.map(build => ({ ...build, buildset: 2, result: 'SUCCESS' as const }));
      return { ...one, flakes: flakesOf([...builds, ...passed.slice(0, -1)], states) };
    };
    const same = new Map([
      [1, 'on A'],
      [2, 'on A'],
    ]);
    const delays = await delaysOf(
      [
        flaky('a', same, 'x', 'y', 'broken'),
        flaky('b', same, 'y', 'broken'),
        // Behind a change that was thrown out, and without it.
        flaky('c', new Map([[2, 'on A']]), 'z', 'broken'),
      ],
      question,
    );
    expect(delays.flaky.map(({ job, builds, items, buildTime }) => [job, builds, items, buildTime])).toEqual([
      ['y', 2, 2, '3000000000'],
      ['x', 1, 1, '1000000000'],
    ]);
  });

  it('list the slowest items first, live ones among them, with what took most of their time', async () => {
    const { slowest } = await sample();
    expect(slowest.map(({ duration, result, mostly }) => [duration, result, mostly?.state])).toEqual([
      ['240000000000', null, 'window'],
      ['208555000000', 'SUCCESS', 'running'],
      ['12321500000', 'FAILURE', 'running'],
    ]);
  });

  it('show how full the pipeline was: the averages add up to the time the items spent there', async () => {
    const choices = fc.array(fc.nat(1000), { minLength: 1, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(fc.array(choices, { minLength: 1, maxLength: 5 }), async lives => {
        const items = lives.map((steps, index) => delayedItem(randomStory(steps, `life-${index}`).item, NOW));
        const last = items.map(item => item.until).reduce((a, b) => (a > b ? a : b)) as Nanoseconds;
        if (last === at(0)) return;
        const delays = await delaysOf(items, { since: at(0), covered: at(0), until: last });
        const width = Number(BigInt(last) - BigInt(at(0))) / delays.load.length;
        const spent = delays.load
          .flatMap(point => Object.values(point.states))
          .reduce((total, count) => total + count * width, 0);
        const rounding = 0.01 * width * delays.load.length * 8;
        expect(Math.abs(spent - Number(delays.time))).toBeLessThan(rounding);
        expect(delays.load.reduce((count, point) => count + point.left, 0)).toBe(items.length);
        expect(delays.load.reduce((count, point) => count + point.resets, 0)).toBe(delays.resets.count);
      }),
      { numRuns: 40 },
    );
  });

  it('say from when on everything is counted when there was too much', async () => {
    const story = failedStory({ pipeline: 'gate' });
    const delays = await delaysOf([delayedItem(story.item, NOW)], { ...question, covered: at(6_000) });
    expect(delays.truncated).toBe(true);
    expect(delays.load[0]?.at).toBe(at(6_000));
    const [, , , , warning] = delaysLines(delays, { width: 80, colour: false, title: 'gate of acme' });
    expect(warning).toBe('  ! too many: only items that left in the last 3m 54s are counted');
  });

  it('are empty for a pipeline nothing happened in', async () => {
    const delays = await delaysOf([], question);
    expect(delays).toMatchObject({ items: 0, took: null, states: [], slowest: [], leftPerHour: 0 });
    expect(delaysLines(delays, { width: 80, colour: false, title: 'gate of acme' })).toEqual([
      'gate of acme  the last 4m 00s',
      '  no item was there in that time',
    ]);
  });

  it('read well at a terminal', async () => {
    const lines = delaysLines(await sample(), { width: 80, colour: false, title: 'gate of acme' });
    expect(lines.join('\n')).toMatchInlineSnapshot(`
      "gate of acme  the last 4m 00s
        2 left: 1 SUCCESS, 1 FAILURE
        15 succeeded per hour; 1 in the queue
        half took up to 12s, 95% up to 3m 29s, the longest 3m 29s

      Items over time
        in the queue    ▇▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▃▃▃▃▃▃ at most 2.5
        being tested    ▂▃▃▃▃▃▃▃▂▃▃▃▂▃▃▃▃▃▃▃▃▃▃▃▃▂▃▃▃▃▁       ▃▃▃▃▃▃▃▃ at most 1
        outside window  ▄▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃         at most 1.4

      Where the time went
                                                     share per item      p50      p95
        outside window   ░░░░░░░░░░░░░░░░░░░░░░░░      46%   1m 11s      12s   3m 20s
        running          ██████████████████████        43%   1m 05s      40s   2m 24s
        awaits its turn  ░░░░░                         10%      16s      48s      48s
        awaits executor  ░                             <1%     1.4s    300ms     3.7s
        reporting        █                             <1%    107ms     90ms    230ms
        merging          █                             <1%     34ms     30ms     62ms
        choosing jobs    █                             <1%      2ms      2ms      3ms

      Worst culprits without each, others would have landed earlier
        change                                              items       by  e.g.
        acme/app master/broken,deadbeef: unit-tests             1      38s  666603c5

      Tested again once, 1 of the items: 45s of build time lost, 21% of all
        by job                                             resets   items     lost
        unit-tests                                              1       1      45s
        by change                                          resets   items     lost
        acme/app master/broken,deadbeef: unit-tests             1       1      45s
        by project                                         resets   items     lost
        acme/app                                                1       1      45s
        by reason                                          resets   items     lost
        item-ahead-failed                                       1       1      45s
        costliest, in UTC
        11:07 unit-tests of acme/app maste… → acme/app master/login,ea78ef…      45s

      Slowest items  ✓ succeeded  ✗ failed  – dequeued  ● in the queue
         4m 00s ● acme/app master/login,14120…      outside window 3m 20s    f0c3d4b2
         3m 29s ✓ acme/app master/login,ea78e… ↺1   running 2m 24s           db8ef553
            12s ✗ acme/app master/login,1b90a…      running 12s              888631f4"
    `);
  });

  it('never exceed the width of the terminal, and colour only when asked to', async () => {
    for (const width of [60, 80, 120]) {
      const lines = delaysLines(await sample(), { width, colour: false, title: 'gate of acme' });
      expect(Math.max(...lines.map(line => line.length))).toBeLessThanOrEqual(width);
      expect(lines.join('')).not.toContain('\u001b');
    }
    expect(delaysLines(await sample(), { width: 80, colour: true, title: 'x' }).join('')).toContain(
      '\u001b[33m',
    );
  });
});

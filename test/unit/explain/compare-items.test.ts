import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ComparableItem,
  comparableItem,
  compareItems,
  isComparable,
  lastGood,
} from '../../../src/explain/compare-items.ts';
import { compareLines, phaseText } from '../../../src/explain/compare-text.ts';
import { phasesOf } from '../../../src/explain/phases.ts';
import { widthOf } from '../../../src/lib/text-width.ts';
import { failedStory, randomStory, resetAndMergedStory } from '../../fake/item-stories.ts';
import { at, itemStory } from '../../fake/queue-item.ts';

const NOW = at(600_000);

interface Course {
  readonly seed: string;
  /** Milliseconds. */
  readonly queue: number;
  readonly run: number;
}

/** Merged, one job, reported. */
function passed({ seed, queue, run }: Course) {
  const story = itemStory({ seed }).merge().wait(40).merged(20).freeze(['unit']);
  story.wait(queue).start('unit').wait(run).finish('unit', 'SUCCESS').complete('SUCCESS');
  return story.report('success').wait(90).reported('done').leave('reported', 'SUCCESS').item;
}

function comparable(course: Course): ComparableItem {
  return comparableItem(passed(course), NOW);
}

/** Newest first, from 2 to 2.9 s of queue and 30 to 39 s of run. */
const LAST_TEN = Array.from({ length: 10 }, (_, index) =>
  comparable({ seed: `good-${index}`, queue: 2000 + 100 * index, run: 30_000 + 1000 * index }),
);

describe('the phases of an item', () => {
  it('are its states, which add up to its life, and its jobs with what they do', () => {
    const item = passed({ seed: 'one', queue: 3000, run: 20_000 });
    const phases = phasesOf(item, NOW);
    const ms = (name: string) => phases.find(phase => phase.level !== 'state' && nameIn(phase) === name)?.ms;
    expect(ms('unit')).toBeCloseTo(23_000, 6);
    expect(ms('wait for an executor or hosts')).toBeCloseTo(3000, 6);
    expect(ms('playbook run/test.sh')).toBeCloseTo(0.7 * 19_997, 0);
    expect(ms('repositories')).toBeCloseTo(0.05 * 19_997, 0);
    expect(ms('set-up')).toBeGreaterThan(0);
    expect(ms('clean-up')).toBeGreaterThan(0);
  });

  it('of any item: its states add up to its life, and no job is longer than it', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1000), { maxLength: 40 }), choices => {
        const { item } = randomStory(choices);
        const { ms, phases } = comparableItem(item, NOW);
        const states = phases.filter(({ level }) => level === 'state');
        expect(states.reduce((sum, phase) => sum + phase.ms, 0)).toBeCloseTo(ms, 3);
        for (const phase of phases) {
          expect(phase.ms).toBeGreaterThanOrEqual(0);
          if (phase.level === 'job') expect(phase.ms).toBeLessThanOrEqual(ms + 0.001);
        }
        expect(new Set(phases.map(({ key }) => key)).size).toBe(phases.length);
      }),
    );
  });
});

describe('an item beside others', () => {
  it('is slower in what took longer than in 19 of 20, and only there', () => {
    const slow = comparable({ seed: 'slow', queue: 45_000, run: 33_000 });
    const { phases, usualOf, other } = compareItems(slow, lastGood(LAST_TEN), LAST_TEN);
    expect(usualOf).toBe(10);
    expect(other).toMatchObject({ item: LAST_TEN[0]?.item, resets: 0, result: 'SUCCESS' });
    const slower = phases.filter(phase => phase.slower).map(phaseText);
    expect(slower).toEqual(['awaits executor', 'unit', 'wait for an executor or hosts']);
    const queue = phases.find(phase => phase.level === 'state' && phase.state === 'executor');
    expect(queue).toMatchObject({ other: 2000, usual: { p50: 2400, p95: 2900, items: 10 } });
    expect(queue?.ms).toBeCloseTo(45_000, 6);
    const playbook = phases.find(phase => phaseText(phase) === 'playbook run/test.sh');
    expect(playbook).toMatchObject({ slower: false });
  });

  it('a few milliseconds more than ever are not slower', () => {
    const item = comparable({ seed: 'same', queue: 2950, run: 39_020 });
    const { phases } = compareItems(item, lastGood(LAST_TEN), LAST_TEN);
    expect(phases.filter(phase => phase.level === 'state' && phase.slower)).toEqual([]);
  });

  it('where too few say what is usual, what is half as long again as in the other is slower', () => {
    const few = LAST_TEN.slice(0, 4);
    const { phases } = compareItems(
      comparable({ seed: 'slow', queue: 2900, run: 61_000 }),
      lastGood(few),
      few,
    );
    expect(phases.every(({ usual }) => usual === null)).toBe(true);
    const slower = phases.filter(phase => phase.slower).map(phaseText);
    expect(slower).toContain('running');
    expect(slower).toContain('playbook run/test.sh');
    expect(slower).not.toContain('awaits executor');
  });

  it('a state that the other was never in took it no time; a job that it did not run says nothing', () => {
    const reset = comparableItem(resetAndMergedStory().item, NOW);
    const { phases } = compareItems(reset, lastGood(LAST_TEN), LAST_TEN);
    expect(phases.find(phase => phase.level === 'state' && phase.state === 'window')).toMatchObject({
      other: 0,
      usual: { p50: 0, p95: 0, items: 10 },
      slower: true,
    });
    expect(phases.find(phase => phase.level === 'job' && phase.job === 'lint')).toMatchObject({
      other: null,
      usual: null,
      slower: false,
    });
  });

  it('stands alone where none passed', () => {
    const { other, usualOf, phases } = compareItems(comparable({ seed: 'x', queue: 1, run: 2000 }), null, []);
    expect([other, usualOf]).toEqual([null, 0]);
    expect(phases.some(phase => phase.slower)).toBe(false);
  });

  it('lists at most ten tasks of a job, only such that took longer', () => {
    const withTasks = (item: ComparableItem, ms: (index: number) => number): ComparableItem => ({
      ...item,
      phases: [
        ...item.phases,
        ...Array.from({ length: 40 }, (_, index) => {
          const name = { level: 'task', job: 'unit', name: `task ${index}` } as const;
          return { ...name, key: JSON.stringify(name), ms: ms(index) };
        }),
      ],
    });
    const good = LAST_TEN.map(item => withTasks(item, () => 500));
    const slow = withTasks(
      comparable({ seed: 'tasks', queue: 2000, run: 30_000 }),
      index => 480 + 20 * index,
    );
    const tasks = compareItems(slow, lastGood(good), good).phases.filter(({ level }) => level === 'task');
    expect(tasks.map(phaseText)).toEqual(Array.from({ length: 10 }, (_, index) => `task ${39 - index}`));
  });

  it('is beside the newest that was never tested again, and only beside what is like it', () => {
    const again = comparableItem(resetAndMergedStory().item, NOW);
    const [newest] = LAST_TEN;
    expect(lastGood([again, ...LAST_TEN])?.item).toBe(newest?.item);
    expect(lastGood([again])?.item).toBe(again.item);
    const item = passed({ seed: 'mine', queue: 1, run: 1 });
    expect(isComparable(item, passed({ seed: 'other', queue: 1, run: 1 }))).toBe(true);
    expect(isComparable(item, item)).toBe(false);
    expect(isComparable(item, failedStory().item)).toBe(false);
  });
});

describe('a comparison in the terminal', () => {
  const slow = comparable({ seed: 'slow', queue: 45_000, run: 33_000 });

  it('names both items, the times and what is usual, in lines that fit', () => {
    const comparison = compareItems(slow, lastGood(LAST_TEN), LAST_TEN);
    const lines = compareLines(comparison, { width: 90, colour: false });
    const text = lines.join('\n');
    expect(text).toMatch(/^this +acme\/app .*: SUCCESS after 1m 18s/);
    expect(text).toMatch(/\nother acme\/app .*: SUCCESS after 32s/);
    expect(text).toMatch(/\n {2}awaits executor +45s +2\.0s +2\.4s +2\.9s {2}slower\n/);
    expect(text).toMatch(/\n {2}unit +1m 18s .*\n {4}wait for an executor or hosts +45s/);
    expect(text).toContain('usual, at most: half and 19 of 20 of the last 10 that passed');
    for (const line of lines.slice(3)) expect(widthOf(line)).toBeLessThanOrEqual(90);
  });

  it('says so where there is nothing to compare with', () => {
    const text = compareLines(compareItems(slow, null, []), { width: 80, colour: false }).join('\n');
    expect(text).toContain('other no item of its project and branch has passed there lately');
    expect(text).toContain('Too few items have passed there to say what is usual.');
  });
});

function nameIn(phase: ReturnType<typeof phasesOf>[number]): string {
  return phase.level === 'state' ? phase.state : phase.level === 'job' ? phase.job : phase.name;
}

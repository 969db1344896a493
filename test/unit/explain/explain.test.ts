import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { explainItem } from '../../../src/explain/explain.ts';
import { explainText } from '../../../src/explain/explain-text.ts';
import type { Nanoseconds } from '../../../src/lib/clock.ts';
import { sum } from '../../../src/lib/time-window.ts';
import type { QueueItem } from '../../../src/model/queue-item.ts';
import { randomStory, resetAndMergedStory } from '../../fake/item-stories.ts';
import { ahead, at, itemStory, jobNode } from '../../fake/queue-item.ts';

function total(parts: readonly { readonly duration: Nanoseconds }[]): string {
  return sum(parts.map(part => part.duration));
}

function checkExact(item: QueueItem, now: Nanoseconds): void {
  const explanation = explainItem(item, now);
  expect(total(explanation.stretches)).toBe(explanation.duration);
  expect(total(explanation.totals)).toBe(explanation.duration);
  expect(total(explanation.criticalPath)).toBe(explanation.duration);
  for (const parts of [explanation.stretches, explanation.criticalPath]) {
    expect(parts.map(part => part.from)).toEqual(
      [explanation.enqueuedAt, ...parts.slice(0, -1).map(part => part.to)].slice(0, parts.length),
    );
  }
}

describe('the explanation of an item', () => {
  it('accounts for every nanosecond, at any moment of any life', () => {
    const choices = fc.array(fc.nat(1000), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(choices, fc.nat(1000), (steps, extra) => {
        const story = randomStory(steps);
        for (const item of story.versions)
          checkExact(item, at(Number(BigInt(story.now) - BigInt(at(0))) / 1e6 + extra));
      }),
      { numRuns: 60 },
    );
  });

  it('never counts beyond the moment of asking', () => {
    const story = itemStory().wait(50).merge().wait(50);
    expect(explainItem(story.item, at(20)).duration).toBe('20000000');
    expect(explainItem(story.item, at(-5)).duration).toBe('0');
  });

  const story = resetAndMergedStory();
  const explanation = explainItem(story.item, story.now);

  it('says what resets cost and who is to blame', () => {
    expect(explanation.resets).toEqual([
      {
        buildset: 1,
        at: story.item.earlier[0]!.stage.state === 'superseded' ? story.item.earlier[0]!.stage.at : '',
        code: 'item-ahead-failed',
        text: 'an item ahead failed: unit-tests of acme/app master/broken,deadbeef ended with FAILURE',
        culprit: ahead(),
        elapsed: '50441500000',
        lostBuildTime: '45400000000',
      },
    ]);
    expect(explanation.lostBuildTime).toBe('45400000000');
  });

  it('follows the longest chain: retry, then what depended on it', () => {
    const words = explanation.criticalPath.map(
      link => `${Math.round(Number(link.duration) / 1e6)} ${link.text}${link.repeated ? ' *' : ''}`,
    );
    expect(words).toMatchInlineSnapshot(`
      [
        "12100 waited for a place in the window",
        "40 its merge with the changes ahead was computed *",
        "2 its configuration was read and its jobs were frozen *",
        "1300 unit-tests waited for an executor *",
        "37000 unit-tests ran *",
        "60 waited for a place in the window",
        "22 its merge with the changes ahead was computed",
        "2 its configuration was read and its jobs were frozen",
        "2800 unit-tests waited for an executor",
        "19500 unit-tests ran",
        "1800 unit-tests waited for an executor (attempt 2)",
        "61000 unit-tests ran (attempt 2)",
        "700 deploy-preview waited for an executor",
        "24000 deploy-preview ran",
        "48000 waited for acme/app master/logout,1a2b3c4d ahead to leave",
        "230 was reported to the code host",
      ]
    `);
  });

  it('lists every attempt with its waiting and running time', () => {
    expect(
      explanation.builds.map(build => [
        build.job,
        build.buildset,
        build.attempt,
        build.waited,
        build.ran,
        build.result,
      ]),
    ).toEqual([
      ['lint', 1, 1, '900000000', '8400000000', 'SUCCESS'],
      ['unit-tests', 1, 1, '1300000000', '37000000000', 'CANCELED'],
      ['lint', 2, 1, '300000000', '7000000000', 'SUCCESS'],
      ['unit-tests', 2, 1, '2800000000', '19500000000', 'RETRY'],
      ['unit-tests', 2, 2, '1800000000', '61000000000', 'SUCCESS'],
      ['deploy-preview', 2, 1, '700000000', '24000000000', 'SUCCESS'],
    ]);
  });

  it('counts a buildset that was complete when it was replaced as lost, except for builds that were kept', () => {
    const story = itemStory({ state: 'merge' })
      .merge()
      .wait(9)
      .merged()
      .freeze(['a', 'b'])
      .wait(5)
      .start('a')
      .start('b')
      .wait(700);
    story.finish('a', 'SUCCESS').finish('b', 'SUCCESS').complete('SUCCESS').wait(50);
    const complete = story.item.buildset;
    const { item } = story.reset('item-ahead-left').wait(3);
    const replaced = { ...item, earlier: [complete] };
    expect(explainItem(replaced, story.now).resets).toMatchObject([
      { buildset: 1, code: 'item-ahead-left', lostBuildTime: '1400000000' },
    ]);
    const kept = { ...replaced, buildset: { ...item.buildset, builds: complete.builds.slice(0, 1) } };
    expect(explainItem(kept, story.now).lostBuildTime).toBe('700000000');
    checkExact(kept, story.now);
  });

  it('of an open item names what runs now', () => {
    const open = itemStory({ state: 'merge' })
      .merge()
      .wait(9)
      .merged()
      .freeze([jobNode('a'), jobNode('b', 'a')])
      .wait(300)
      .start('a')
      .wait(700);
    const result = explainItem(open.item, open.now);
    expect(result.ended).toBeNull();
    expect(result.criticalPath.at(-1)).toMatchObject({ text: 'a ran', duration: '700000000' });
    expect(result.builds).toMatchObject([{ job: 'a', result: null, ran: '700000000' }]);
  });

  it('reads well at a terminal', () => {
    expect(explainText(explanation, { width: 100, colour: false })).toMatchInlineSnapshot(`
      "acme/app master/login,ea78ef9f in gate of acme: SUCCESS after 3m 29s
      item db8ef5533cd66a1a39a4d70fa478db09

      Where the time went
        running           2m 24s   69%  █████████████████████████████████
        awaits its turn      48s   23%  ░░░░░░░░░░░
        outside window       12s    6%  ░░░
        awaits executor     3.7s    2%  ░
        reporting          230ms   <1%  █
        merging             62ms   <1%  █
        choosing jobs        3ms   <1%  █

      Tested again
        ↺ at 50s      an item ahead failed: unit-tests of acme/app master/broken,deadbeef ended with FAIL…
                      buildset 1, 50s after it began; 45s of build time lost

      Builds: 2m 37s on executors, 7.8s in their queue
        job             set  try   waited      ran    usual  worker      result
        lint              1    1    900ms     8.4s        –  executor-1  SUCCESS
        unit-tests        1    1     1.3s      37s        –  executor-2  CANCELED
        lint              2    1    300ms     7.0s        –  executor-1  SUCCESS
        unit-tests        2    1     2.8s      20s        –  executor-1  RETRY
        unit-tests        2    2     1.8s   1m 01s        –  executor-3  SUCCESS
        deploy-preview    2    1    700ms      24s        –  executor-1  SUCCESS

      Critical path
            0ms  ░     12s  waited for a place in the window
            12s  █    40ms  its merge with the changes ahead was computed (lost to a reset)
            12s  █     2ms  its configuration was read and its jobs were frozen (lost to a reset)
            12s  ░    1.3s  unit-tests waited for an executor (lost to a reset)
            13s  █     37s  unit-tests ran (lost to a reset)
            50s  ░    60ms  waited for a place in the window
            51s  █    22ms  its merge with the changes ahead was computed
            51s  █     2ms  its configuration was read and its jobs were frozen
            51s  ░    2.8s  unit-tests waited for an executor
            53s  █     20s  unit-tests ran
         1m 13s  ░    1.8s  unit-tests waited for an executor (attempt 2)
         1m 15s  █  1m 01s  unit-tests ran (attempt 2)
         2m 16s  ░   700ms  deploy-preview waited for an executor
         2m 16s  █     24s  deploy-preview ran
         2m 40s  ░     48s  waited for acme/app master/logout,1a2b3c4d ahead to leave
         3m 28s  █   230ms  was reported to the code host"
    `);
  });

  it('never exceeds the width of the terminal, and colours only when asked to', () => {
    for (const width of [60, 80, 120]) {
      const lines = explainText(explanation, { width, colour: false }).split('\n');
      expect(Math.max(...lines.map(line => line.length))).toBeLessThanOrEqual(width);
    }
    expect(explainText(explanation, { width: 80, colour: false })).not.toContain('\u001b');
    expect(explainText(explanation, { width: 80, colour: true })).toContain('\u001b[32mSUCCESS\u001b[0m');
  });
});

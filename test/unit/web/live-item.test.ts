import { describe, expect, test } from 'vitest';
import { failingReasons } from '../../../src/api/failing-reasons.ts';
import { finishedItem, liveItem } from '../../../src/api/live-item.ts';
import type { ConfigError } from '../../../src/model/config-error.ts';
import { projectIdOf } from '../../../src/model/project.ts';
import { emptyJobNode } from '../../fake/records.ts';
import { finishedItems, gateItems, RESET } from './sample-gate.ts';
import { at, type SampleBuild, sampleItem, uuidOf } from './sample-item.ts';

function itemWith(
  builds: readonly SampleBuild[],
  jobs = [
    emptyJobNode('lint'),
    emptyJobNode('unit-tests', { dependencies: [{ name: 'lint', soft: false }] }),
  ],
) {
  return sampleItem('one', { at: 0, buildsets: [{ at: 0, jobs, builds }], timeline: [['running', 0]] });
}
const show = (item: ReturnType<typeof itemWith>) =>
  liveItem(item, { traceUrl: null, tracesUrl: null, expected: new Map([['lint', 5000]]) });

describe('an item as the page draws it', () => {
  test('shows each job by its last attempt', () => {
    const item = itemWith([
      { job: 'lint', times: [1, 2, 3], result: 'RETRY', detail: 'lost' },
      { job: 'lint', times: [3, 4], attempt: 2 },
    ]);
    expect(show(item).jobs).toMatchObject([
      {
        name: 'lint',
        state: 'started',
        attempt: 2,
        attempts: 3,
        result: null,
        expectedMs: 5000,
        waitingFor: null,
        startedAt: Date.UTC(2026, 10, 20, 12, 0, 4),
      },
      {
        name: 'unit-tests',
        state: 'waiting',
        build: null,
        expectedMs: null,
        waitingFor: 'dependencies: lint',
        dependencies: ['lint'],
      },
    ]);
  });

  test('says why a job was skipped or cancelled', () => {
    const item = itemWith([
      { job: 'lint', times: [1, 2], cancelled: { code: 'reset', at: at(5), culprit: RESET.culprit } },
      { job: 'unit-tests', times: [5], skippedFor: 'lint' },
    ]);
    expect(show(item).jobs).toMatchObject([
      {
        result: 'CANCELED',
        detail: expect.stringContaining('unit-tests of acme/app master/fast-login'),
        endedAt: Date.UTC(2026, 10, 20, 12, 0, 5),
      },
      { result: 'SKIPPED', detail: 'lint did not succeed' },
    ]);
  });

  test('counts a reset also when the buildset had come to its result before', () => {
    const item = sampleItem('conflict', {
      at: 0,
      buildsets: [
        { at: 0, stage: 'complete', result: 'MERGE_CONFLICT', endedAt: 2 },
        { at: 262, cause: RESET, stage: 'merging' },
      ],
      timeline: [['merge', 0]],
    });
    expect(show(item).resets).toMatchObject([{ number: 1, code: 'item-ahead-failed', lostMs: 0 }]);
  });

  test('offers only http links', () => {
    const [item] = gateItems();
    const [change] = item!.changes;
    const shown = (url: string) => show({ ...item!, changes: [{ ...change, url }] }).changes[0]!.url;
    expect(shown('https://git.example.org/1')).toBe('https://git.example.org/1');
    expect(shown('javascript:alert(1)')).toBeNull();
    expect(shown('data:text/html,x')).toBeNull();
  });

  test('is one line when it is finished', () => {
    expect(finishedItem(finishedItems()[1]!)).toMatchObject({
      uuid: uuidOf('metrics'),
      result: 'SUCCESS',
      reason: 'reported',
      resets: 1,
    });
  });
});

describe('what is known against an item', () => {
  test.each([
    [
      'a voting job failed',
      [{ job: 'lint', times: [1, 2, 3], result: 'FAILURE' }],
      ['at least one job failed'],
    ],
    [
      'a voting job was cancelled',
      [{ job: 'lint', times: [1, 2], cancelled: { code: 'fail-fast', at: at(3), culprit: null } }],
      ['at least one job failed'],
    ],
    ['a non-voting job failed', [{ job: 'lint', times: [1, 2, 3], result: 'FAILURE', voting: false }], []],
    ['a job is tried again', [{ job: 'lint', times: [1, 2, 3], result: 'RETRY' }], []],
    ['a job was skipped', [{ job: 'unit-tests', times: [1], skippedFor: 'lint' }], []],
    [
      'all is well',
      [
        { job: 'lint', times: [1, 2, 3] },
        { job: 'unit-tests', times: [3, 4] },
      ],
      [],
    ],
  ] satisfies readonly (readonly [string, readonly SampleBuild[], readonly string[]])[])(
    'when %s',
    (_when, builds, reasons) => {
      expect(failingReasons(itemWith(builds))).toEqual(reasons);
    },
  );

  test('when the run phase failed and the job still cleans up', () => {
    const item = itemWith([{ job: 'lint', times: [1, 2] }]);
    const [build] = item.buildset.builds;
    const failing = {
      ...build!,
      state: { state: 'started', at: at(2), worker: 'executor-1', failingSince: at(3) },
    } as const;
    expect(failingReasons({ ...item, buildset: { ...item.buildset, builds: [failing] } })).toEqual([
      'at least one job failed',
    ]);
  });

  test('when a change ahead of it conflicts, with whom and in what', () => {
    const item = sampleItem('three', { at: 0, buildsets: [{ at: 0 }], timeline: [['merge', 0]] });
    const [{ key, project }] = item.changes;
    const files = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const reasonsWith = (change: typeof key) =>
      failingReasons({
        ...item,
        buildset: { ...item.buildset, conflict: { change, project, files, with: 'local/x#1' as typeof key } },
      });
    const rest = `conflicts with x 1 in ${projectIdOf(project).name}: a, b, c, d, e and 2 more files`;
    expect(reasonsWith(key)).toEqual([`it has a merge conflict: it ${rest}`]);
    expect(reasonsWith('local/x#2' as typeof key)).toEqual([`it has a merge conflict: x 2 ${rest}`]);
  });

  test('when it cannot be merged, is misconfigured, or needs a failing change', () => {
    const item = sampleItem('two', { at: 0, buildsets: [{ at: 0 }], timeline: [['needed-change', 0]] });
    const [change] = item.changes;
    const error: ConfigError = {
      severity: 'error',
      file: '.zuul.yaml',
      line: 1,
      column: 1,
      code: 'unknown-key',
      text: 'unknown key',
    };
    const buildset = {
      ...item.buildset,
      conflict: { change: change.key, project: change.project, files: ['a'] },
      configErrors: [error],
    };
    expect(failingReasons({ ...item, buildset })).toEqual([
      'a needed change is failing',
      `it has a merge conflict: it conflicts with the branch or a change ahead in ${projectIdOf(change.project).name}: a`,
      'it has an invalid configuration',
    ]);
    expect(
      failingReasons({
        ...item,
        buildset: { ...item.buildset, configErrors: [{ ...error, severity: 'warning' }] },
      }),
    ).toEqual(['a needed change is failing']);
  });
});

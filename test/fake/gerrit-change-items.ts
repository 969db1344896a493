/** Items of a change of a Gerrit, for tests: checked, checked again, and now in the gate. */
import type { ProposedChange } from '../../src/model/change.ts';
import type { QueueItem } from '../../src/model/queue-item.ts';
import { sampleChange, sampleItem } from '../unit/web/sample-item.ts';
import { emptyJobNode } from './records.ts';

/** Patch set of change 12 of acme/app. */
function gerritChange(patchset: number): ProposedChange {
  const url = 'https://review.example.org/c/acme/app/+/12';
  return { ...sampleChange('twelve'), id: '12', patchset: String(patchset), url };
}

/** Left, the older first: failed on patch set 3, then passed but for a job without a vote. */
export function checkedItems(): readonly [QueueItem, QueueItem] {
  const common = { change: gerritChange(3), pipeline: 'check', queue: 'local/acme/app' };
  const failed = sampleItem('first-check', {
    ...common,
    at: -300,
    buildsets: [
      {
        at: -300,
        stage: 'complete',
        result: 'FAILURE',
        builds: [
          { job: 'lint', times: [-298, -295, -270] },
          {
            job: 'unit-tests',
            times: [-298, -294, -190],
            result: 'FAILURE',
            detail: '1 of 409 tests failed',
          },
          { job: 'integration', times: [-190], skippedFor: 'unit-tests' },
        ],
      },
    ],
    timeline: [['merge', -300]],
    left: { at: -180, reason: 'reported', result: 'FAILURE' },
  });
  const passed = sampleItem('recheck', {
    ...common,
    at: -170,
    buildsets: [
      {
        at: -170,
        stage: 'complete',
        builds: [
          { job: 'lint', times: [-168, -165, -150] },
          { job: 'unit-tests', times: [-168, -160, -100] },
          { job: 'coverage', times: [-168, -165, -150], voting: false, result: 'TIMED_OUT' },
        ],
      },
    ],
    timeline: [['merge', -170]],
    left: { at: -90, reason: 'reported', result: 'SUCCESS' },
  });
  return [failed, passed];
}

/** Live: one job runs, one waits for an executor, one for the other. */
export function gatedItem(): QueueItem {
  return sampleItem('gated', {
    change: gerritChange(3),
    at: 200,
    buildsets: [
      {
        at: 200,
        jobs: [
          emptyJobNode('lint'),
          emptyJobNode('unit-tests'),
          emptyJobNode('integration', { dependencies: [{ name: 'unit-tests', soft: false }] }),
        ],
        builds: [
          { job: 'lint', times: [201, 204] },
          { job: 'unit-tests', times: [201] },
        ],
      },
    ],
    timeline: [
      ['merge', 200],
      ['running', 204],
    ],
  });
}

/** Left the gate although its jobs passed. */
export function unlandedItem(): QueueItem {
  return sampleItem('unlanded', {
    change: gerritChange(4),
    at: 0,
    buildsets: [
      { at: 0, stage: 'complete', result: 'MERGE_FAILURE', builds: [{ job: 'lint', times: [1, 2, 9] }] },
    ],
    timeline: [['merge', 0]],
    left: { at: 12, reason: 'reported', result: 'MERGE_FAILURE' },
  });
}

/** Just enqueued. */
export function newItem(): QueueItem {
  return sampleItem('new', {
    change: gerritChange(4),
    pipeline: 'check',
    at: 290,
    buildsets: [{ at: 290, stage: 'merging' }],
    timeline: [['merge', 290]],
  });
}

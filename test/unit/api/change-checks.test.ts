import { describe, expect, test } from 'vitest';
import { changeChecks } from '../../../src/api/change-checks.ts';
import type { ChangeChecks } from '../../../src/api/change-checks-schema.ts';
import type { QueueItem } from '../../../src/model/queue-item.ts';
import { checkedItems, gatedItem, newItem, unlandedItem } from '../../fake/gerrit-change-items.ts';
import { uuidOf } from '../web/sample-item.ts';

const ROOT = 'https://gate.example.org';

function runsOf(items: readonly QueueItem[], patchset = '3'): ChangeChecks['runs'] {
  return changeChecks(items, false, {
    root: ROOT,
    traceUi: { template: 'http://traces.example.org/{trace_id}', service: 'gatehouse' },
    isAsked: change => change.kind === 'change' && change.patchset === patchset,
    usual: () => new Map([['lint', 60_000]]),
  }).runs;
}

const line = ({ checkName, attempt, status, results }: ChangeChecks['runs'][number]) =>
  [checkName, attempt, status, ...results.map(({ category, summary }) => `${category} ${summary}`)].join(' ');

describe('the runs of a change', () => {
  test('are its builds, numbered through all of its items in any order', () => {
    const [failed, passed] = checkedItems();
    expect(runsOf([gatedItem(), passed, failed]).map(line)).toEqual([
      'check/lint 1 COMPLETED SUCCESS SUCCESS',
      'check/unit-tests 1 COMPLETED ERROR FAILURE: 1 of 409 tests failed',
      'check/integration 1 COMPLETED INFO SKIPPED: unit-tests did not succeed',
      'check/lint 2 COMPLETED SUCCESS SUCCESS',
      'check/unit-tests 2 COMPLETED SUCCESS SUCCESS',
      'check/coverage 1 COMPLETED WARNING TIMED_OUT',
      'gate/lint 1 RUNNING',
      'gate/unit-tests 1 SCHEDULED',
      'gate/integration 1 SCHEDULED',
    ]);
  });

  test('have links to build, log and trace, and times', () => {
    const [failed] = checkedItems();
    const [lint] = runsOf([failed]);
    const uuid = uuidOf('first-check', 'build', '1', 'lint', '1');
    expect(lint).toMatchObject({
      ...{ change: 12, patchset: 3, externalId: uuid },
      checkLink: `${ROOT}/t/main/item/${failed.uuid}`,
      statusLink: `${ROOT}/t/main/build/${uuid}`,
      scheduledTimestamp: Date.UTC(2026, 10, 20, 11, 55, 2),
      startedTimestamp: Date.UTC(2026, 10, 20, 11, 55, 5),
      finishedTimestamp: Date.UTC(2026, 10, 20, 11, 55, 30),
    });
    expect(lint?.results[0]?.links.map(({ url, primary }) => [url, primary])).toEqual([
      [`${ROOT}/t/main/build/${uuid}`, true],
      [`${ROOT}/api/tenant/main/build/${uuid}/log`, false],
      [`http://traces.example.org/${failed.uuid}`, false],
    ]);
  });

  test('say what they wait for, and when one that runs should end', () => {
    const [lint, unit, integration] = runsOf([gatedItem()]);
    expect(lint).toMatchObject({ finishedTimestamp: Date.UTC(2026, 10, 20, 12, 4, 24) });
    expect(unit).toMatchObject({ statusDescription: 'waits for an executor' });
    expect(unit).not.toHaveProperty('startedTimestamp');
    expect(integration).toMatchObject({ statusDescription: 'waits: dependencies: unit-tests' });
  });

  test('have the item itself where it has no jobs yet, or they do not explain its result', () => {
    expect(runsOf([unlandedItem(), newItem()], '4').map(line)).toEqual([
      'gate/lint 1 COMPLETED SUCCESS SUCCESS',
      'gate 1 COMPLETED ERROR MERGE_FAILURE',
      'check 1 SCHEDULED',
    ]);
  });

  test('are those of the patch set asked for, and none of items without jobs of their own', () => {
    expect(runsOf([gatedItem(), unlandedItem()], '5')).toEqual([]);
    expect(runsOf([{ ...gatedItem(), role: 'dependency' }])).toEqual([]);
  });
});

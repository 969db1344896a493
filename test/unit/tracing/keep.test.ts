import { describe, expect, it } from 'vitest';
import type { LeaveCode } from '../../../src/model/cause.ts';
import type { QueueItem } from '../../../src/model/queue-item.ts';
import type { BuildSetResult } from '../../../src/model/results.ts';
import { hasRules, isKept, type KeepRules } from '../../../src/tracing/keep.ts';
import { itemStory } from '../../fake/queue-item.ts';

const NONE: KeepRules = { outcomes: [], slowerThanMs: null };
const ALL: KeepRules['outcomes'] = [
  'failure',
  'error',
  'merge-conflict',
  'config-error',
  'dequeued',
  'superseded',
  'reset',
];

function left(result: BuildSetResult, reason: LeaveCode = 'reported'): QueueItem {
  return itemStory().wait(60_000).leave(reason, result).item;
}

describe('items are kept for their outcome', () => {
  it.each([
    ['failure', left('FAILURE')],
    ['failure', left('MERGE_FAILURE')],
    ['failure', left('FAILURE', 'requirement-lost')],
    ['error', left('ERROR')],
    ['merge-conflict', left('MERGE_CONFLICT')],
    ['config-error', left('CONFIG_ERROR')],
    ['dequeued', left('DEQUEUED', 'abandoned')],
    ['dequeued', left('DEQUEUED', 'dequeued-by-hand')],
    // In any state by then.
    ['superseded', left('DEQUEUED', 'superseded')],
    ['superseded', left('FAILURE', 'superseded')],
    ['reset', itemStory().merge().reset().wait(9).leave('reported', 'SUCCESS').item],
  ] as const)('%s', (outcome, item) => {
    expect(ALL.filter(each => isKept(item, { ...NONE, outcomes: [each] }))).toEqual([outcome]);
    expect(isKept(item, { ...NONE, outcomes: ALL })).toBe(true);
    expect(isKept(item, NONE)).toBe(false);
  });

  it('or for the time they took', () => {
    expect(isKept(left('SUCCESS'), { ...NONE, slowerThanMs: 59_999 })).toBe(true);
    expect(isKept(left('SUCCESS'), { ...NONE, slowerThanMs: 60_000 })).toBe(false);
  });

  it('but not when all went well, nor when they only held a place, nor before they left', () => {
    expect(isKept(left('SUCCESS'), { ...NONE, outcomes: ALL })).toBe(false);
    expect(isKept(left('NO_JOBS'), { ...NONE, outcomes: ALL })).toBe(false);
    const everything = { outcomes: ALL, slowerThanMs: 1 };
    expect(isKept(left('DEQUEUED', 'no-longer-needed'), everything)).toBe(false);
    expect(isKept(itemStory().merge().reset().wait(9000).item, everything)).toBe(false);
  });

  it('are held back while there are rules', () => {
    expect(
      [NONE, { ...NONE, outcomes: ['error'] } as const, { ...NONE, slowerThanMs: 0 }].map(hasRules),
    ).toEqual([false, true, true]);
  });
});

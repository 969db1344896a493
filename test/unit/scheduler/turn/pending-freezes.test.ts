import { describe, expect, test } from 'vitest';
import type { FreezeAnswer } from '../../../../src/layout/layout-table.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import { derivedUuid } from '../../../../src/lib/ids.ts';
import type { PipelineEvent } from '../../../../src/model/event.ts';
import type { PipelineState } from '../../../../src/model/pipeline-state.ts';
import type { QueueItem } from '../../../../src/model/queue-item.ts';
import { pendingFreezes } from '../../../../src/scheduler/turn/pending-freezes.ts';
import type { QueueEntry } from '../../../../src/store/event-queue.ts';
import { at, itemStory } from '../../../fake/queue-item.ts';

const A = itemStory({ seed: 'a' }).wait(10).merge().item;
const B = itemStory({ seed: 'b' }).wait(10).merge().item;
const ANSWER: FreezeAnswer = {
  cached: true,
  freezeMs: 1,
  jobTimes: [],
  secrets: [],
  outcome: { kind: 'not-in-pipeline' },
  defaultBranches: new Map(),
};

describe('a merged buildset whose job graph takes long', () => {
  test('waits in the queue while the turn goes on with everything else, and wakes the pipeline when it is there', async () => {
    const desk = open();
    const entries = [merged(A), merged(B), forgotten()];
    desk.answer(1);
    const first = await desk.pending.sort(entries, stateOf(A, B), 5);
    expect(first.taken).toEqual([entries[1], entries[2]]);
    expect([...first.freezes.keys()]).toEqual([B.buildset.uuid]);
    expect(desk.pending.waiting).toBe(1);
    expect(desk.woken).toBe(0);

    desk.answer(0);
    await expect.poll(() => desk.woken).toBe(1);
    const second = await desk.pending.sort([entries[0]!], stateOf(A, B), 5);
    expect(second.taken).toEqual([entries[0]]);
    expect([...second.freezes.keys()]).toEqual([A.buildset.uuid]);
    expect(desk.pending.waiting).toBe(0);
    expect(desk.asked).toBe(2);
  });

  test('does not hold up its event once its item has gone', async () => {
    const desk = open();
    const entries = [merged(A)];
    expect((await desk.pending.sort(entries, stateOf(A), 5)).taken).toEqual([]);
    expect((await desk.pending.sort(entries, stateOf(B), 5)).taken).toEqual(entries);
  });

  test('is waited for where the turn is for that event alone', async () => {
    const desk = open();
    const sorted = desk.pending.sort([merged(A)], stateOf(A), Number.POSITIVE_INFINITY);
    desk.answer(0);
    expect((await sorted).freezes.size).toBe(1);
  });

  test('that cannot be computed fails the turn, and is tried again', async () => {
    const desk = open();
    const entries = [merged(A)];
    const failing = desk.pending.sort(entries, stateOf(A), Number.POSITIVE_INFINITY);
    desk.fail(0, new Error('the thread crashed'));
    await expect(failing).rejects.toThrow('the thread crashed');
    const again = desk.pending.sort(entries, stateOf(A), Number.POSITIVE_INFINITY);
    desk.answer(1);
    expect((await again).taken).toEqual(entries);
  });
});

function open() {
  const questions: PromiseWithResolvers<FreezeAnswer>[] = [];
  const ready = new Map<number, (question: PromiseWithResolvers<FreezeAnswer>) => void>();
  let woken = 0;
  let asked = 0;
  const settle = (index: number, how: (question: PromiseWithResolvers<FreezeAnswer>) => void) => {
    const question = questions[index];
    if (question === undefined) ready.set(index, how);
    else how(question);
  };
  const pending = pendingFreezes({
    clock: systemClock(),
    pipeline: 'gate',
    layout: {
      pipelines: new Map(),
      jobs: [],
      projects: new Map(),
      semaphores: new Map(),
      errors: [],
      errorCount: 0,
      secrets: [],
    },
    layouts: {
      freeze() {
        const question = Promise.withResolvers<FreezeAnswer>();
        questions.push(question);
        ready.get(asked++)?.(question);
        return question.promise;
      },
    },
    wake: () => {
      woken += 1;
    },
  });
  return {
    pending,
    answer: (index: number) => settle(index, question => question.resolve(ANSWER)),
    fail: (index: number, error: Error) => settle(index, question => question.reject(error)),
    get woken() {
      return woken;
    },
    get asked() {
      return asked;
    },
  };
}

function stateOf(...items: readonly QueueItem[]): PipelineState {
  return { items: new Map(items.map(item => [item.uuid, item])) } as unknown as PipelineState;
}

function entryOf(value: PipelineEvent): QueueEntry<PipelineEvent> {
  return { path: `/${value.uuid}`, value, attempts: 0, bytes: new Uint8Array() };
}

function merged(item: QueueItem): QueueEntry<PipelineEvent> {
  return entryOf({
    kind: 'merger-result',
    uuid: derivedUuid('event', item.uuid),
    item: item.uuid,
    buildset: item.buildset.uuid,
    request: derivedUuid('request', item.uuid),
    at: at(20),
    outcome: { kind: 'merged', branches: [], filesChanged: [], config: [] },
  } as unknown as PipelineEvent);
}

function forgotten(): QueueEntry<PipelineEvent> {
  return entryOf({
    kind: 'change-updated',
    uuid: derivedUuid('update'),
    change: A.changes[0].key,
  } as unknown as PipelineEvent);
}

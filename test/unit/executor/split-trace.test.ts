import { expect, test } from 'vitest';
import { splitTrace } from '../../../src/executor/split-trace.ts';
import { spanIdOf, traceIdOf } from '../../../src/lib/ids.ts';
import type { BuildTrace } from '../../../src/model/build-request.ts';
import { at, itemStory } from '../../fake/queue-item.ts';

function running(more: Pick<BuildTrace, 'own' | 'splitAfterMs'> | null) {
  const { item } = itemStory();
  let ms = 0;
  const clock = { monotonic: () => ms };
  const given = { traceId: traceIdOf(item.uuid), buildSpan: spanIdOf(item.uuid), sampled: true };
  const trace: BuildTrace | null = more === null ? null : { ...given, event: item.origin.event, ...more };
  const split = splitTrace({ trace }, clock);
  const boundary = (after: number) => {
    ms += after;
    return split.boundary(at(ms - 10));
  };
  return { boundary, split };
}

test('the first playbook that begins after the limit begins the continuation, once', () => {
  const { boundary, split } = running({ splitAfterMs: 1000 });
  expect([boundary(0), boundary(1000)]).toEqual([false, false]);
  expect(split.continuedAt()).toBeUndefined();
  expect([boundary(1), boundary(5000)]).toEqual([true, false]);
  expect(split.continuedAt()).toBe(at(991));
});

test.each([
  ['a job with a trace of its own', { own: true }],
  ['a job that is never divided', {}],
  ['a job that is not traced', null],
] as const)('%s goes on where it began, however long it runs', (_, more) => {
  const { boundary, split } = running(more);
  expect([boundary(0), boundary(86_400_000)]).toEqual([false, false]);
  expect(split.continuedAt()).toBeUndefined();
});

import { describe, expect, test } from 'vitest';
import { outcomeOf, type PhaseEnds } from '../../../src/executor/outcome.ts';

const failed = (detail: string) => ({ kind: 'failed', detail, exitCode: 1 }) as const;
const away = (detail: string) => ({ kind: 'unreachable', detail, exitCode: 4 }) as const;
const timedOut = (detail: string) => ({ kind: 'timed-out', detail, exitCode: null }) as const;

describe('the result of a build', () => {
  test.each<[string, PhaseEnds, string, string | undefined]>([
    ['nothing failed', {}, 'SUCCESS', undefined],
    ['run failed', { run: failed('run') }, 'FAILURE', 'run'],
    ['run timed out', { run: timedOut('run') }, 'TIMED_OUT', 'run'],
    ['pre-run failed', { 'pre-run': failed('pre') }, 'RETRY', 'pre'],
    ['pre-run timed out', { 'pre-run': timedOut('pre') }, 'RETRY', 'pre'],
    ['post-run failed', { 'post-run': failed('post') }, 'POST_FAILURE', 'post'],
    ['post-run timed out', { 'post-run': timedOut('post') }, 'POST_FAILURE', 'post'],
    [
      'run and post-run failed: the tests come first',
      { run: failed('run'), 'post-run': failed('post') },
      'FAILURE',
      'run',
    ],
    ['pre-run and post-run failed', { 'pre-run': failed('pre'), 'post-run': failed('post') }, 'RETRY', 'pre'],
    ['cancelled in run', { run: { kind: 'cancelled', detail: 'c' } }, 'CANCELED', 'c'],
    [
      'cancelled in post-run after a failure',
      { run: failed('run'), 'post-run': { kind: 'cancelled', detail: 'c' } },
      'CANCELED',
      'c',
    ],
    ['disk full', { run: { kind: 'disk-full', detail: 'd' } }, 'DISK_FULL', 'd'],
    [
      'our own failure in post-run after a failure: the verdict stands',
      { run: failed('run'), 'post-run': { kind: 'broken', detail: 'b' } },
      'FAILURE',
      'run',
    ],
    ['a host was away in run', { run: away('run'), 'post-run': failed('post') }, 'RETRY', 'run'],
    ['a host was away in post-run', { 'post-run': away('post') }, 'RETRY', 'post'],
    ['a host was away after a failure', { run: failed('run'), 'post-run': away('post') }, 'FAILURE', 'run'],
    ['our own failure in post-run', { 'post-run': { kind: 'broken', detail: 'b' } }, 'RETRY', 'b'],
  ])('when %s', (_when, ends, result, detail) => {
    expect(outcomeOf(ends, { retry: true })).toEqual(detail === undefined ? { result } : { result, detail });
  });

  test.each<[string, PhaseEnds, string]>([
    ['a failure where pre-run failed', { 'pre-run': failed('pre') }, 'FAILURE'],
    ['a failure where a host was away in pre-run', { 'pre-run': away('pre') }, 'FAILURE'],
    ['as ever where a host was away in run', { run: away('run') }, 'RETRY'],
    ['as ever where we failed in pre-run', { 'pre-run': { kind: 'broken', detail: 'b' } }, 'RETRY'],
  ])('that shall not be retried is %s', (_when, ends, result) => {
    expect(outcomeOf(ends, { retry: false })).toMatchObject({ result });
  });
});

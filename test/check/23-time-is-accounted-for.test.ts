/**
 * Check 23: where the time of an item went, from the spans at the collector alone. The real service, real repositories, real
 * jobs: a failure in the middle, jobs that depend on one another, items that wait for the one ahead, one that is abandoned.
 *
 * Histories by the hundred (retries, conflicts, late answers, refused merges) are played by the real pipeline on a clock of its
 * own in test/unit/tracing/real-histories.test.ts, with the same account.
 */
import { expect } from 'vitest';
import type { Explanation } from '../../src/explain/explain.ts';
import {
  accountOf,
  disagreement,
  largestDifference,
  type Piece,
  piecesOf,
} from '../fake/account-of-spans.ts';
import { classicLayout } from '../scenario/layouts.ts';
import { TENANT } from '../scenario/site.ts';
import { story } from '../scenario/story.ts';
import type { World } from '../scenario/world.ts';

const MILLISECOND = 1_000_000n;

story(
  'check 23: waits and work tile each item, and its critical path is the one of its spans',
  { layout: classicLayout() },
  async world => {
    for (const topic of ['A', 'B', 'C']) await world.propose(topic);
    for (const topic of ['A', 'B', 'C']) await world.approve(topic);
    world.fail('project-test1', 'B');
    await world.runs('project-merge: A');
    world.release(/project-merge: A$/);
    await world.runs('project-merge: A B', 'project-test1: A', 'project-test2: A');
    world.release(/project-merge: A B$/);
    await world.runs(
      'project-merge: A B C',
      ...['project-test1: A', 'project-test2: A', 'project-test1: A B', 'project-test2: A B'],
    );
    world.release(/project-test1: A B$/);
    await world.runs('project-test1: A', 'project-test2: A', 'project-test2: A B', 'project-merge: A C');
    await world.propose('D', { files: { 'A.txt': 'in conflict with A\n' } });
    await world.approve('D');
    await world.abandon('C');
    await compare(world, 'C', (await world.leaves('C', 'DEQUEUED')).uuid);
    world.free();
    for (const [topic, result] of [
      ['A', 'SUCCESS'],
      ['B', 'FAILURE'],
      ['D', 'MERGE_CONFLICT'],
    ] as const) {
      const { uuid } = await world.leaves(topic, result);
      await compare(world, topic, uuid);
    }
  },
);

async function compare(world: World, topic: string, uuid: string): Promise<void> {
  const trace = await world.observer.until(`the trace of ${topic}`, () => {
    const spans = world.sink.spans.filter(span => span.traceId === uuid);
    return spans.some(span => span.parentSpanId === null) ? spans : undefined;
  });
  const explained = await world.api.get<Explanation>(`/api/tenant/${TENANT}/item/${uuid}/explain`);
  const account = accountOf(trace);
  expect(account.overlaps, `states of ${topic} at once`).toEqual([]);
  // All that no span explains, however many moments that were.
  const unexplained = account.duration - account.waits - account.work;
  expect(unexplained, `ns of ${topic} nothing explains`).toBeLessThanOrEqual(MILLISECOND);
  expect(unexplained, `ns of ${topic} explained, and not lived`).toBeGreaterThanOrEqual(0n);
  expect(account.duration).toBe(BigInt(explained.duration));
  expect(explained.totals.reduce((sum, { duration }) => sum + BigInt(duration), 0n)).toBe(account.duration);
  expect(
    largestDifference(explained.totals, account.totals),
    `${JSON.stringify(explained.totals)}\n\n${[...account.totals].join('\n')}`,
  ).toBeLessThanOrEqual(MILLISECOND);
  const path = piecesOf(explained.criticalPath);
  expect(disagreement(path, account.path), `${textOf(path)}\n\n${textOf(account.path)}`).toBeLessThanOrEqual(
    MILLISECOND,
  );
}

function textOf(path: readonly Piece[]): string {
  return path.map(({ label, from, to }) => `${label} ${to - from}`).join('\n');
}

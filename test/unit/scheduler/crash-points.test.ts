/**
 * A change goes through the gate while the scheduler that does everything dies before or after each of its writes in turn; a
 * second one stands by. At every point: landed once, reported once, one root span with the item's own start, one history row.
 */
import { expect, test } from 'vitest';
import { openSchedulers } from './schedulers.ts';

/** Multis of an undisturbed run, from the first one. */
async function writesOfOneRun(): Promise<number> {
  await using site = await openSchedulers();
  let writes = 0;
  const one = await site.start('one', {
    after: index => {
      writes = index;
    },
  });
  await one.scheduler.ready;
  await site.approve('login');
  await site.quiet();
  await one.stop();
  return writes;
}

async function runDying(at: number, when: 'before' | 'after') {
  await using site = await openSchedulers();
  const started = site.start('one', { dies: { at, when } });
  // It may die before it is made.
  const one = await Promise.race([
    started,
    new Promise<undefined>(resolve => setTimeout(() => resolve(undefined), 300)),
  ]);
  const two = await site.start('two');
  await two.scheduler.ready;
  await site.approve('login');
  await site.quiet();
  const items = (await site.history()).flatMap(row => (row.kind === 'item' ? [row.item] : []));
  const roots = (await site.spans()).filter(
    span => span.parent === null && span.attributes['gatehouse.span.type'] === 'QueueItem',
  );
  await one?.kill();
  await two.stop();
  return { effects: site.host.effects, items, roots };
}

test('wherever a scheduler dies, each change lands once, is reported once, and has one root span', async () => {
  const writes = await writesOfOneRun();
  expect(writes).toBeGreaterThan(20);
  for (let at = 1; at <= writes; at++) {
    for (const when of ['before', 'after'] as const) {
      const { effects, items, roots } = await runDying(at, when);
      const where = `${when} write ${at} of ${writes}`;
      expect(
        effects.filter(({ kind }) => kind === 'land'),
        where,
      ).toHaveLength(1);
      expect(
        effects.filter(({ kind }) => kind === 'note'),
        where,
      ).toHaveLength(2);
      expect(
        items.map(item => [item.changes.length, item.phase]),
        where,
      ).toMatchObject([[1, { phase: 'left', result: 'SUCCESS' }]]);
      expect(roots.map(root => [root.traceId, root.start]).sort(), where).toEqual(
        items.map(item => [item.uuid, item.enqueuedAt]).sort(),
      );
    }
  }
}, 120_000);

/** Without the event stream: the webhooks plug-in announces what happened, or Gerrit is asked at intervals. */
import { expect } from 'vitest';
import { itemsOf } from './change-outcomes.ts';
import { gerritStory } from './gerrit-world.ts';

for (const announcedBy of ['webhooks', 'polls'] as const)
  gerritStory(
    `with ${announcedBy} alone a change is checked, leaves the gate when it is abandoned, and lands when it is restored`,
    { announcedBy, connection: [`poll_interval = ${announcedBy === 'polls' ? 1 : 3600}`] },
    async world => {
      const { gerrit } = world;
      const change = await world.push();
      await world.runs('unit: 1');
      world.release(/unit/);
      await world.leaves(change, 'SUCCESS', 'check');
      await world.approve(change);
      await world.runs('unit: 1');
      await gerrit.abandon(change);
      await world.leaves(change, 'DEQUEUED');
      await gerrit.restore(change);
      await world.runs('unit: 1');
      await world.approve(change);
      await gerrit.comment(change, 'bob', 'Once more');
      await world.observer.until('it to be in the gate again', () => world.item(change));
      world.free();
      await world.leaves(change, 'SUCCESS');
      expect(change.now.status).toBe('MERGED');
      expect(await itemsOf(world, change, 'gate')).toHaveLength(2);
    },
  );

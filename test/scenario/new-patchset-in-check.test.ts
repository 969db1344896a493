import { expect } from 'vitest';
import { classicLayout } from './layouts.ts';
import { story } from './story.ts';

story(
  'in check a new patchset replaces the old one, also for the changes that build on it',
  { layout: classicLayout({ check: true }) },
  async world => {
    await world.propose('A');
    await world.propose('B', { on: 'A' });
    await world.runs('project-merge: A', 'project-merge: A B');
    const [ahead, live] = [...world.observer.items()]
      .filter(item => item.changes[0]?.name === 'master/A' || item.changes[0]?.name === 'master/B')
      .filter(item => item.role === 'dependency' || item.changes[0]?.name === 'master/B');
    expect(ahead?.role).toBe('dependency');
    expect(live?.role).toBe('live');

    await world.propose('A');
    await world.observer.until(
      'the new patchset of A to run',
      () => world.observer.running().filter(build => build.changes === 'A').length === 1,
    );
    await world.propose('B', { on: 'A' });
    await world.runs('project-merge: A', 'project-merge: A B');
    world.free();
    await world.leaves('A', 'SUCCESS', 'check');
    await world.leaves('B', 'SUCCESS', 'check');
    expect((await world.history()).filter(line => line.startsWith('project-merge'))).toEqual([
      'project-merge: A B CANCELED',
      'project-merge: A B SUCCESS',
      'project-merge: A CANCELED',
      'project-merge: A SUCCESS',
    ]);
    for (const topic of ['A', 'B']) expect(await world.notes(topic)).toHaveLength(1);
  },
);

/** What the gate does not take up, each with its reason on record. */
import { expect } from 'vitest';

import { layoutWith, ONE_JOB } from './layouts.ts';
import { story } from './story.ts';

story(
  'a change is refused for a dependency that was abandoned, or that depends on it',
  { layout: layoutWith(ONE_JOB) },
  async world => {
    await world.propose('A', { message: 'Depends-On: org/project@master/B' });
    await world.propose('B', { message: 'Depends-On: org/project@master/A' });
    await world.approve('A');
    expect((await world.decided('A', 'dependency-cycle')).text).toContain('master/B');

    await world.propose('needed');
    await world.propose('needing', { message: 'Depends-On: org/project@master/needed' });
    await world.abandon('needed');
    await world.approve('needing');
    expect((await world.decided('needing', 'dependency-abandoned')).text).toContain('master/needed');

    world.free();
    await world.propose('done');
    await world.approve('done');
    await world.leaves('done', 'SUCCESS');
    expect(world.queued()).toEqual([]);
    expect(await world.landed()).toEqual(['done']);
  },
);

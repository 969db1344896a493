/** Rules of Gerrit that no pipeline names: a change that Gerrit would not submit is not tested for its landing. */
import { expect } from 'vitest';
import { ourMessages } from './change-outcomes.ts';
import { gerritStory } from './gerrit-world.ts';

const rule = (name: string, submittableIf: string) => ({ name, submittableIf });

gerritStory(
  'a submit requirement that is not met keeps a change out of the gate, with its name, and what we vote counts as given',
  {
    fake: { version: '3.11' },
    project: {
      requirements: [
        rule('Verified', 'label:Verified=MAX AND -label:Verified=MIN'),
        rule('Released', 'hashtag:released'),
      ],
    },
  },
  async world => {
    const { gerrit, observer } = world;
    const change = await world.push();
    world.free();
    await world.leaves(change, 'SUCCESS', 'check');
    const tested = world.stage.builds.length;
    await world.approve(change);
    const why = async () =>
      JSON.stringify(
        await world.api.get(
          `/api/tenant/tenant-one/changes/${change.number}/decisions?project=acme/app&limit=50`,
        ),
      );
    await observer.until('the decision', async () => (await why()).includes('Released'));
    await observer.settle();
    expect(world.item(change)).toBeUndefined();
    expect(world.stage.builds).toHaveLength(tested);
    await gerrit.setHashtags(change, { add: ['released'] });
    await gerrit.comment(change, 'bob', 'Released.');
    await world.leaves(change, 'SUCCESS');
    expect(change.now.status).toBe('MERGED');

    // Where it is met before the approval, the change enters at once.
    const late = await world.push();
    await gerrit.setHashtags(late, { add: ['released'] });
    await world.approve(late);
    await observer.until('it to be tested or gone', () => world.item(late) ?? late.now.status === 'MERGED');
    await world.leaves(late, 'SUCCESS');
    expect(ourMessages(late).at(-1)).toContain('Build succeeded (gate)');
  },
);

/** A pull request that is approved days after it was opened: all tokens have expired, and GitHub delivers an old webhook again. */
import { expect } from 'vitest';
import { toMilliseconds } from '../../../src/lib/clock.ts';
import { skippingClock } from '../../fake/skipping-clock.ts';
import { githubStory } from './github-world.ts';
import { itemsOf, webhooksProcessed } from './pull-outcomes.ts';

const DAY = 86_400_000;
const clock = skippingClock();

githubStory(
  'two days later a delivery of then is a duplicate, and the pull request is approved and lands',
  {
    clock,
    fake: { now: () => toMilliseconds(clock.now()) },
    // Octokit signs by the machine's clock, which stays behind; GitHub's answer says how far.
    expectedTrouble: [/Expiration time/, /GitHub API time and system time are different by 172\d{3} seconds/],
  },
  async world => {
    const { github, app, observer, sink } = world;
    world.free();
    const pull = await world.open();
    const [opening] = github.deliveries;
    await world.leaves(pull, 'SUCCESS', 'check');
    // Spans of yesterday that the collector does not have yet would be dropped as too old.
    await webhooksProcessed(world);
    const duplicates = () =>
      sink.spans.filter(({ attributes }) => JSON.stringify(attributes).includes('duplicate delivery'));
    expect(duplicates()).toEqual([]);

    clock.skip(2 * DAY);
    const before = github.deliveries.length;
    github.hooks.redeliver(opening?.id ?? 0);
    await observer.until('the duplicate', () => duplicates().length > 0);
    expect(github.deliveries[before]).toMatchObject({ guid: opening?.guid, status: 200 });
    await github.review(app, pull, 'bob', 'APPROVED');
    await world.leaves(pull, 'SUCCESS');
    await webhooksProcessed(world);
    expect(pull.now.merged).toBe(true);
    expect(await itemsOf(world, pull, 'check')).toHaveLength(1);
  },
);

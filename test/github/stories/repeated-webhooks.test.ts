/** Webhooks that come twice, and webhooks that come in hundreds. */
import { expect } from 'vitest';
import { githubLayout } from './github-layout.ts';
import { type GithubWorld, githubStory } from './github-world.ts';
import { itemsOf, webhooksProcessed } from './pull-outcomes.ts';

/** Pull requests to other branches than main are read, and nothing else. */
const LAYOUT = githubLayout().replace(
  '        - event: pull_request\n',
  '        - event: pull_request\n          branch: ^main$\n',
);
const HEADS = 8;
const STATUSES = 120;

githubStory(
  'a delivery counts once, and hundreds of statuses cost two readings of each head and hold nothing up',
  { layout: LAYOUT },
  async world => {
    const { github, app, observer } = world;
    github.hooks.faults.push('twice-at-once');
    const pull = await world.open();
    const [opening] = github.deliveries;
    await world.runs('unit: 1');
    await duplicates(world, 1);
    github.hooks.redeliver(opening?.id ?? 0);
    await webhooksProcessed(world);
    await duplicates(world, 2);
    expect(await itemsOf(world, pull, 'check')).toHaveLength(1);

    await github.setRef(app, 'refs/heads/stable', await github.tip(app, 'main'));
    const pulls = [];
    for (let head = 0; head < HEADS; head++) pulls.push(await world.open({ base: 'stable' }));
    await webhooksProcessed(world);
    // The first reading of each head lasts until the last status is there.
    const all = Promise.withResolvers<void>();
    const readings = /query PullState.*"number":[2-9]\b/s;
    github.faults.add({
      operation: 'graphql',
      body: readings,
      times: HEADS,
      does: { kind: 'after', what: () => all.promise },
    });
    const from = github.requests.length;
    for (let at = 0; at < STATUSES; at++)
      await github.status(app, pulls[at % HEADS]?.now.head ?? '', `build-${at % 3}`, 'pending');
    const later = await world.open();
    await observer.until('the pull request to be tested meanwhile', () => world.item(later, 'check'));
    all.resolve();
    await webhooksProcessed(world);
    const statuses = github.deliveries.filter(({ event }) => event === 'status');
    expect(statuses.filter(({ status }) => status === 200)).toHaveLength(STATUSES);
    const about = new RegExp(`"number":[2-9]\\b|${pulls.map(({ now }) => now.head).join('|')}`);
    const ofHeads = github.requests
      .slice(from)
      .filter(({ path, body }) => about.test(path) || about.test(JSON.stringify(body)));
    expect(ofHeads.length).toBeGreaterThanOrEqual(HEADS);
    expect(ofHeads.length).toBeLessThanOrEqual(2 * HEADS);
    await observer.until('the trace of a reading that answers several', () =>
      world.sink.spans.some(({ attributes }) => Number(attributes['gatehouse.delivery.answered_count']) > 1),
    );
  },
);

/** Resolves when so many deliveries were found to be known already. */
async function duplicates({ observer, sink }: GithubWorld, count: number): Promise<void> {
  const found = () =>
    sink.spans.filter(({ attributes }) => JSON.stringify(attributes).includes('duplicate delivery'));
  await observer.until(`${count} duplicates`, () => found().length >= count);
  expect(found()).toHaveLength(count);
}

/** Case 55: all webhooks of ten minutes are lost; one sweep finds everything, each once. */
import { expect } from 'vitest';
import { githubLayout } from './github-layout.ts';
import { githubStory } from './github-world.ts';

githubStory(
  'a sweep asks for failed deliveries again, and every event counts once',
  { connection: ['sweep_interval = 1'] },
  async world => {
    const { github, app } = world;
    world.free();
    // A sweep asks for deliveries first: while it waits for them nothing else is looked for.
    let asked = false;
    const back = Promise.withResolvers<void>();
    github.faults.add({
      operation: 'apps/list-webhook-deliveries',
      does: {
        kind: 'after',
        what() {
          asked = true;
          return back.promise;
        },
      },
    });
    await world.observer.until('a sweep', () => asked);
    github.hooks.down = true;
    const opened = await world.open({ title: 'Opened' });
    const approved = await world.open({ title: 'Approved' });
    await github.review(app, approved, 'bob', 'APPROVED');
    expect(world.observer.items()).toEqual([]);
    github.hooks.down = false;
    back.resolve();
    await world.leaves(opened, 'SUCCESS', 'check');
    await world.leaves(approved, 'SUCCESS');
    expect(approved.now.merged).toBe(true);
    await world.observer.until('the trace of a repeated delivery', () =>
      world.sink.spans.some(
        ({ name, attributes }) =>
          name.startsWith('GithubEvent') && attributes['gatehouse.event.found_by'] === 'redelivery',
      ),
    );
    const runs = (await world.observer.finished()).filter(({ pipeline }) => pipeline === 'check');
    expect(runs.flatMap(({ changes }) => changes.map(({ name }) => name)).toSorted()).toEqual(['1', '2']);
  },
);

githubStory(
  'what GitHub will not deliver at all is found by comparing its listing with what is remembered',
  { connection: ['sweep_interval = 1'], layout: githubLayout() },
  async world => {
    const { github, app } = world;
    world.free();
    const pull = await world.open({ title: 'Known' });
    await world.leaves(pull, 'SUCCESS', 'check');
    await github.settled();
    github.hooks.down = true;
    github.faults.add({
      operation: 'apps/list-webhook-deliveries',
      times: 1_000,
      does: { kind: 'status', status: 404 },
    });
    await github.review(app, pull, 'bob', 'APPROVED');
    const pushed = await github.push(app, 'stable', { files: { 'stable.txt': 'new\n' } });
    await world.leaves(pull, 'SUCCESS');
    await world.observer.until('the branch to be seen', () =>
      world.sink.spans.some(
        ({ attributes }) =>
          attributes['vcs.ref.head.revision'] === pushed &&
          attributes['gatehouse.event.type'] === 'push' &&
          attributes['gatehouse.event.found_by'] === 'sweep',
      ),
    );
    const missed = () =>
      world.sink.spans.some(
        ({ name, attributes }) =>
          name === 'HostSweep local' && Number(attributes['gatehouse.sweep.missed_count']) > 0,
      );
    await world.observer.until('the trace of the sweep that found it', missed);
  },
);

/** Webhooks that come late, swapped or from strangers, and the builds they lead to. */
import { expect } from 'vitest';
import { githubStory } from './github-world.ts';
import { decided, itemsOf, webhooksProcessed } from './pull-outcomes.ts';

// Case 11, 12, 13
githubStory('only the newest head is tested, in any order of webhooks', {}, async world => {
  const { github, app } = world;
  github.hooks.faults.push('held');
  const late = await world.open({ title: 'Log in', user: 'alice' });
  github.hooks.faults.push('held', 'held', 'held', 'held');
  await github.push(app, late.headRef, { files: { 'a.txt': '1\n' } });
  await github.push(app, late.headRef, { files: { 'a.txt': '2\n' } });
  github.hooks.release();
  await world.runs('unit: 1');
  const [build] = world.stage.builds;
  expect(build?.variables.zuul).toMatchObject({
    change: '1',
    patchset: late.now.head,
    message: expect.any(String),
    change_url: expect.stringContaining('/acme/app/pull/1'),
  });
  await webhooksProcessed(world);
  expect(world.item(late, 'check')?.changes).toEqual([
    {
      text: expect.stringContaining('acme/app 1'),
      project: 'acme/app',
      name: '1',
      id: '1',
      subject: 'Log in',
      owner: 'alice',
      url: `${github.url}/acme/app/pull/1`,
    },
  ]);
  expect(world.stage.builds).toHaveLength(1);

  // `synchronize` before `opened`.
  github.hooks.faults.push('held');
  const swapped = await world.open({ title: 'Log out' });
  await github.push(app, swapped.headRef, { files: { 'b.txt': '1\n' } });
  github.hooks.release();
  await world.runs('unit: 1', 'unit: 2');
  await webhooksProcessed(world);
  expect((await itemsOf(world, swapped, 'check')).map(({ changes }) => changes[0]?.text)).toEqual([
    expect.stringContaining(swapped.now.head.slice(0, 8)),
  ]);

  // `closed` before `synchronize`.
  github.hooks.faults.push('held', 'held');
  await github.push(app, swapped.headRef, { files: { 'b.txt': '2\n' } });
  await github.close(app, swapped);
  github.hooks.release();
  await webhooksProcessed(world);
  await world.runs('unit: 1');
  expect(await itemsOf(world, swapped, 'check')).toHaveLength(1);
});

// Case 20
githubStory(
  'a comment starts a build once, and only where it is one of a person on an open pull request',
  {},
  async world => {
    const { github, app } = world;
    const pull = await world.open();
    const closed = await world.open();
    await world.runs('unit: 1', 'unit: 2');
    world.free();
    await world.leaves(pull, 'SUCCESS', 'check');
    await world.leaves(closed, 'SUCCESS', 'check');
    await github.close(app, closed);
    const before = world.stage.builds.length;
    const comment = await github.comment(app, pull, 'eve', 'recheck');
    await world.observer.until('a build to begin', () => world.stage.builds.length > before);
    await webhooksProcessed(world);
    await world.observer.settle();
    expect(world.stage.builds.slice(before).map(({ changes }) => changes)).toEqual(['1']);
    await github.editComment(app, pull, comment, 'recheck');
    await github.comment(app, closed, 'bob', 'recheck');
    await github.comment(app, pull, 'gatehouse[bot]', 'recheck');
    await github.comment(app, pull, 'bob', 'please recheck this');
    await webhooksProcessed(world);
    await decided(world, closed, /the change is abandoned/, 'check');
    await world.observer.settle();
    expect(world.stage.builds).toHaveLength(before + 1);
  },
);

// Case 22
githubStory('a pull request of a deleted fork and of deleted people is tested', {}, async world => {
  const { github, app } = world;
  const fork = await github.fork(app, 'carol');
  github.hooks.faults.push('held');
  const pull = await world.open({ from: fork, user: 'carol', files: { 'c.txt': 'c\n' } });
  github.hooks.faults.push('held');
  await github.review(app, pull, 'dave', 'APPROVED');
  github.deleteRepository(fork);
  github.deleteUser('carol');
  github.deleteUser('dave');
  github.hooks.release();
  await world.runs('unit: 1');
  expect(world.item(pull, 'check')?.changes[0]).toMatchObject({ owner: 'ghost' });
});

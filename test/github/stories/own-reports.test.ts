/** What a pipeline reports comes back as webhooks of its own check runs. */
import { expect } from 'vitest';
import { githubLayout } from './github-layout.ts';
import { githubStory } from './github-world.ts';
import { decided, itemsOf, webhooksProcessed } from './pull-outcomes.ts';

const layout = githubLayout().replace('check: .*:success', 'check: .*/gate:.*');

githubStory('a gate does not take a change again for its own failed check run', { layout }, async world => {
  const { github, app } = world;
  const pull = await world.open();
  world.fail('unit', pull);
  await github.review(app, pull, 'bob', 'APPROVED');
  world.free();
  await world.leaves(pull, 'FAILURE');
  await decided(world, pull, /it is the report of this pipeline itself/);
  await webhooksProcessed(world);
  expect(await itemsOf(world, pull, 'gate')).toHaveLength(1);
});

const STATUSES = githubLayout({ gateSuccess: '{status: success, merge: true}' })
  .replace(
    /local: {check: failure}(?=\n {4}dequeue:\n.*\n- pipeline:\n {4}name: post)/,
    'local: {status: failure}',
  )
  .replace('action: [labeled, status, ready_for_review]', 'action: status\n          status: .*/gate:.*');

githubStory(
  'nor for its own status, whose author has one name in webhooks and another in queries',
  { layout: STATUSES },
  async world => {
    const { github, app } = world;
    const pull = await world.open();
    world.fail('unit', pull);
    await github.review(app, pull, 'bob', 'APPROVED');
    world.free();
    await world.leaves(pull, 'FAILURE');
    await github.settled();
    expect(app.statuses.map(({ context, state }) => [context, state])).toEqual([
      ['tenant-one/gate', 'failure'],
    ]);
    await decided(world, pull, /it is the report of this pipeline itself/);
    await webhooksProcessed(world);
    expect(await itemsOf(world, pull, 'gate')).toHaveLength(1);
  },
);

const CYCLE = `
- pipeline:
    name: ping
    manager: independent
    trigger:
      local: [{event: pull_request, action: labeled, label: ball}]
    success:
      local: {unlabel: ball, comment: false}
- pipeline:
    name: pong
    manager: independent
    trigger:
      local: [{event: pull_request, action: unlabeled, unlabel: ball}]
    success:
      local: {label: ball, comment: false}
- job:
    name: base
    parent: null
    run: playbooks/job.sh
- job: {name: play}
- project:
    name: acme/app
    ping: {jobs: [play]}
    pong: {jobs: [play]}
`;

githubStory('two pipelines that trigger each other end after ten rounds', { layout: CYCLE }, async world => {
  const { github, app, stage } = world;
  world.free();
  const pull = await world.open();
  // Else the first reading shows the label, and not whose it is.
  await webhooksProcessed(world);
  const rounds = (pipeline: string) => stage.builds.filter(each => each.pipeline === pipeline).length;
  await github.label(app, pull, 'ball');
  await decided(world, pull, /it is number 11 of our own reports "unlabeled ball"/, 'pong');
  await webhooksProcessed(world);
  expect([rounds('ping'), rounds('pong')]).toEqual([11, 10]);
});

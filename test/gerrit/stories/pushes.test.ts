/** Branches and tags that move: the pipeline after the landing, and pushes by hand beside the gate. */
import { expect } from 'vitest';
import { git } from '../fake/bare-git.ts';
import { gerritLayout } from './gerrit-layout.ts';
import { type GerritWorld, gerritStory } from './gerrit-world.ts';

const POST = gerritLayout({
  more: `- pipeline:
    name: tag
    manager: independent
    trigger:
      local:
        - event: ref-updated
          ref: ^refs/tags/
- job: {name: publish}
- project:
    name: acme/app
    post: {jobs: [publish]}
    tag: {jobs: [publish]}
`,
});

/** What ran after a ref had moved: branch or tag, and the commit it moved to. */
const published = ({ stage }: GerritWorld) =>
  stage.builds
    .filter(({ job }) => job === 'publish')
    .map(({ pipeline, variables: { zuul } }) => `${pipeline} ${zuul.items.at(-1)?.ref} ${zuul.newrev}`);

gerritStory(
  'what has landed, and what was pushed or tagged, is published once each',
  { layout: POST },
  async world => {
    const { gerrit } = world;
    world.free();
    const change = await world.push();
    await world.approve(change);
    await world.leaves(change, 'SUCCESS');
    const landed = await gerrit.tip('acme/app');
    await world.observer.until('the landed commit to be published', () => published(world).length === 1);
    const pushed = await gerrit.pushBranch('acme/app', 'master', { 'by-hand.txt': '1\n' });
    await world.observer.until('the push to be published', () => published(world).length === 2);
    await gerrit.tag('acme/app', 'v1');
    await world.observer.until('the tag to be published', () => published(world).length === 3);
    await gerrit.createBranch('acme/app', 'stable');
    await world.observer.until('the branch to be published', () => published(world).length === 4);
    await gerrit.deleteBranch('acme/app', 'stable');
    // Of a meta-ref, and of a project that no tenant has: nothing.
    await gerrit.project('others/lib');
    await gerrit.pushBranch('others/lib', 'master', { 'by-hand.txt': '1\n' });
    await world.observer.settle();
    expect(published(world).map(text => text.replace(/ [0-9a-f]{40}$/, ''))).toEqual([
      'post refs/heads/master',
      'post refs/heads/master',
      'tag refs/tags/v1',
      'post refs/heads/stable',
    ]);
    expect(
      published(world)
        .map(text => text.split(' ').at(-1))
        .slice(0, 2),
    ).toEqual([landed, pushed]);
  },
);

gerritStory('a push by a person is below what lands, and holds up no other project', {}, async world => {
  const { gerrit } = world;
  const change = await world.push();
  await world.approve(change);
  await world.runs('unit: 1');
  const pushed = await gerrit.pushBranch('acme/app', 'master', { 'by-hand.txt': '1\n' });
  const other = await world.push({ project: 'acme/library' });
  await world.runs('unit: 1', 'unit: 2');
  world.release(/^unit: 1$/);
  const resets = () =>
    world
      .item(change)
      ?.resets.map(({ code }) => code)
      .join();
  await world.observer.until('a reset', () => resets() === 'base-moved');
  world.free();
  await world.leaves(change, 'SUCCESS');
  await world.leaves(other, 'SUCCESS', 'check');
  const tip = await gerrit.tip('acme/app');
  const { dir } = change.project;
  expect(await git(dir, 'merge-base', pushed, tip)).toBe(pushed);
  expect(await git(dir, 'ls-tree', '--name-only', tip)).toMatch(/by-hand.txt\n(.|\n)*file-1.txt/);
});

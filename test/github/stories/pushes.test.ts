/** Branches and tags that are pushed and deleted, in pipelines for refs. */
import { expect } from 'vitest';
import type { FinishedItem } from '../../../src/api/live-item.ts';
import { git } from '../fake/bare-git.ts';
import type { Repository } from '../fake/world.ts';
import { githubStory } from './github-world.ts';
import { webhooksProcessed } from './pull-outcomes.ts';

const LAYOUT = `
- pipeline:
    name: post
    manager: independent
    trigger:
      local: [{event: push, ref: ^refs/heads/}]
- pipeline:
    name: release
    manager: independent
    trigger:
      local: [{event: push, ref: ^refs/tags/v}]
- pipeline:
    name: cleanup
    manager: independent
    trigger:
      local: [{event: push, ref: ^refs/heads/, ignore-deletes: false}]
- job:
    name: base
    parent: null
    run: playbooks/job.sh
- job: {name: publish}
- project:
    name: acme/app
    post: {jobs: [publish]}
    release: {jobs: [publish]}
    cleanup: {jobs: [noop]}
`;

githubStory(
  'tags and branches of any name are tested as they were pushed, and a deletion where it is asked for',
  { layout: LAYOUT },
  async world => {
    const { github, app, observer, stage } = world;
    const main = await github.tip(app, 'main');
    world.free();
    const branches = ['#%25', 'feature/log-in', 'ünï&='];
    for (const branch of branches) await github.setRef(app, `refs/heads/${branch}`, main);
    const signed = await tagObject(app, main);
    const tags = { 'v1/rc#1': signed, v2: await tagObject(app, signed), v3: main };
    for (const [tag, object] of Object.entries(tags)) await github.setRef(app, `refs/tags/${tag}`, object);
    await github.setRef(app, 'refs/tags/other', main);
    await webhooksProcessed(world);
    await observer.until('all builds to begin', () => stage.builds.length === 6);
    const built = stage.builds.map(({ pipeline, variables: { zuul } }) => {
      const { ref, branch, tag, oldrev, newrev } = zuul;
      return [pipeline, ref, branch ?? tag, oldrev, newrev];
    });
    expect(built.sort()).toEqual([
      ...branches.map(name => ['post', `refs/heads/${name}`, name, undefined, main]),
      ...Object.keys(tags).map(name => ['release', `refs/tags/${name}`, name, undefined, main]),
    ]);

    for (const branch of branches) await github.setRef(app, `refs/heads/${branch}`, null);
    await github.setRef(app, 'refs/tags/v3', null);
    const deleted = async () => (await observer.finished()).filter(isDeletion);
    await observer.until('the deletions to be handled', async () => (await deleted()).length >= 3);
    await webhooksProcessed(world);
    expect((await deleted()).map(({ pipeline, changes }) => [pipeline, changes[0]?.name]).sort()).toEqual(
      branches.map(name => ['cleanup', `refs/heads/${name}`]),
    );
    expect(stage.builds).toHaveLength(6);
  },
);

githubStory(
  'an annotated tag is the commit it marks, when it is made, moved and deleted, also one that was there before',
  {
    layout: LAYOUT.replace('ref: ^refs/tags/v', 'ref: ^refs/tags/v, ignore-deletes: false'),
    before: async (github, repositories) => {
      const app = repositories.get('acme/app');
      if (app === undefined) throw new Error('no repository acme/app');
      const first = await github.tip(app, 'main');
      const second = await github.push(app, 'main', { files: { 'second.txt': 'second\n' } });
      await git(app.dir, 'update-ref', 'refs/tags/v0', await tagObject(app, first));
      await git(app.dir, 'update-ref', 'refs/tags/v9', await tagObject(app, await tagObject(app, second)));
    },
  },
  async world => {
    const { github, app, stage, observer } = world;
    world.free();
    const [first, second] = [await git(app.dir, 'rev-parse', 'main~'), await github.tip(app, 'main')];
    const moves = [
      ['refs/tags/v1', await tagObject(app, first)],
      ['refs/tags/v1', await tagObject(app, second)],
      ['refs/tags/v1', first],
      ['refs/tags/v0', await tagObject(app, second)],
    ] as const;
    const released = () => stage.builds.filter(({ pipeline }) => pipeline === 'release');
    const revisions = () => released().map(({ variables: { zuul } }) => [zuul.tag, zuul.oldrev, zuul.newrev]);
    // One at a time: their builds may begin in another order.
    for (const [place, [ref, object]] of moves.entries()) {
      await github.setRef(app, ref, object);
      await observer.until(`the build of move ${place}`, () => released().length > place);
    }
    expect(revisions()).toEqual([
      ['v1', undefined, first],
      ['v1', first, second],
      ['v1', second, first],
      ['v0', first, second],
    ]);
    for (const tag of ['v0', 'v9']) await github.setRef(app, `refs/tags/${tag}`, null);
    await observer.until('the deletions to begin', () => released().length === moves.length + 2);
    expect(revisions().slice(moves.length).sort()).toEqual([
      ['v0', second, undefined],
      ['v9', second, undefined],
    ]);
  },
);

function isDeletion({ changes }: FinishedItem): boolean {
  return changes[0]?.text.includes('(deleted)') ?? false;
}

/** An annotated tag that no ref points at yet. */
async function tagObject({ dir }: Repository, object: string): Promise<string> {
  await git(dir, 'tag', '-a', '-m', 'Marked', 'unpublished', object);
  const made = await git(dir, 'rev-parse', 'refs/tags/unpublished');
  await git(dir, 'update-ref', '-d', 'refs/tags/unpublished');
  return made;
}

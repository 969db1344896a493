/** GitHub's own merge queue delegates to a pipeline. */
import { expect } from 'vitest';
import type { LiveItem } from '../../../src/api/live-item.ts';
import type { DecisionsDocument } from '../../../src/api/service.ts';
import { TENANT } from '../../scenario/site.ts';
import { git } from '../fake/bare-git.ts';
import type { MergeGroup } from '../fake/deeds/merge-queue.ts';
import type { Repository } from '../fake/world.ts';
import { type GithubWorld, githubStory } from './github-world.ts';
import { webhooksProcessed } from './pull-outcomes.ts';

const LAYOUT = `
- pipeline:
    name: groups
    manager: independent
    trigger:
      local: [{event: merge_group, branch: ^main$}]
    start:
      local: {check: in_progress}
    success:
      local: {check: success}
    failure:
      local: {check: failure}
    dequeue:
      local: {check: cancelled}
- job:
    name: base
    parent: null
    run: playbooks/job.sh
- job: {name: whole, branches: ^main$}
- project:
    name: acme/app
    groups: {jobs: [whole]}
`;

// Case 59
githubStory(
  "a group of GitHub's merge queue is tested as it is, and merged or given up",
  { layout: LAYOUT },
  async world => {
    const { github, app, observer, stage } = world;
    await github.protect(app, 'main', { checks: ['tenant-one/groups'], mergeQueue: true });
    const pulls = [await world.open(), await world.open(), await world.open()];
    const group = await github.queueGroup(app, pulls);
    await world.runs(`whole: ${group.ref}`);
    expect(stage.builds[0]?.variables.zuul).toMatchObject({
      ...{ branch: 'main', newrev: group.headSha, oldrev: group.baseSha, ref: group.ref },
    });
    const runOf = (sha: string) =>
      app.checks
        .filter(({ headSha }) => headSha === sha)
        .map(({ name, status, conclusion }) => [name, status, conclusion]);
    await github.settled();
    expect(runOf(group.headSha)).toEqual([['tenant-one/groups', 'in_progress', null]]);
    expect(await github.settleGroup(app, group)).toBe(false);
    world.release(/^whole/);
    await left(1);
    expect(runOf(group.headSha)).toEqual([['tenant-one/groups', 'completed', 'success']]);
    expect(await github.settleGroup(app, group)).toBe(true);
    expect(await github.tip(app, 'main')).toBe(group.headSha);

    const next = await github.queueGroup(app, [await world.open()]);
    await world.runs(`whole: ${next.ref}`);
    await github.destroyGroup(app, next, 'invalidated');
    const [item] = await left(2);
    expect(item).toMatchObject({ result: 'DEQUEUED', reason: 'dequeued-by-hand' });
    await observer.until('the check run to end', () => runOf(next.headSha)[0]?.[1] === 'completed');
    expect(runOf(next.headSha)).toEqual([['tenant-one/groups', 'completed', 'cancelled']]);
    expect(await github.settleGroup(app, next)).toBe(false);

    function left(count: number) {
      return observer.until(`${count} items to leave`, async () => {
        const finished = await observer.finished();
        return finished.length === count && finished;
      });
    }
  },
);

const REUSING = LAYOUT.replace('    trigger:', '    reuse-results: true\n    trigger:');

githubStory(
  'a group with the tree and the jobs of one that succeeded gets its result at once, also after a restart',
  { layout: REUSING },
  async world => {
    const { github, app } = world;
    await github.protect(app, 'main', { checks: ['tenant-one/groups'], mergeQueue: true });
    world.free();
    const [first, second] = [await world.open(), await world.open()];
    const alone = await github.queueGroup(app, [first]);
    await leftGroup(world, alone, 1);
    const both = await github.queueGroup(app, [first, second]);
    const tested = await leftGroup(world, both, 1);
    expect(tested.testedBefore).toBeNull();

    await world.restart();
    expect(await github.settleGroup(app, alone)).toBe(true);
    await github.destroyGroup(app, both, 'invalidated');
    const rebuilt = await github.queueGroup(app, [second]);
    expect(await treeOf(app, rebuilt)).toBe(await treeOf(app, both));
    const answered = await leftGroup(world, rebuilt, 1);
    expect(answered).toMatchObject({ left: { result: 'SUCCESS' }, jobs: [] });
    expect(answered.testedBefore).toEqual({ item: tested.uuid, buildset: tested.buildset.uuid });
    expect(testedRefs(world)).toEqual([alone.ref, both.ref]);
    await expectExplained(world, rebuilt, answered);
    expect(await github.settleGroup(app, rebuilt)).toBe(true);
    expect(await github.tip(app, 'main')).toBe(rebuilt.headSha);
  },
);

githubStory(
  'a group is answered as often as it is made again, and tested once its jobs have changed',
  { layout: REUSING },
  async world => {
    const { github, app } = world;
    world.free();
    const [first, second] = [await world.open(), await world.open()];
    const rebuild = async (group: MergeGroup) => {
      await github.destroyGroup(app, group, 'invalidated');
      return github.queueGroup(app, group.pulls);
    };
    const one = await github.queueGroup(app, [first]);
    await leftGroup(world, one, 1);
    const both = await github.queueGroup(app, [first, second]);
    await leftGroup(world, both, 1);
    const same = await rebuild(one);
    expect((await leftGroup(world, same, 2)).testedBefore).not.toBeNull();
    expect(testedRefs(world)).toEqual([one.ref, both.ref]);

    const config = world.repository('org/config');
    const files = { 'zuul.yaml': REUSING.replace('name: whole,', 'name: whole, vars: {fast: true},') };
    await github.push(config, 'main', { files });
    await webhooksProcessed(world);
    const anew = await rebuild(same);
    expect(await leftGroup(world, anew, 3)).toMatchObject({
      left: { result: 'SUCCESS' },
      testedBefore: null,
    });
    expect(testedRefs(world)).toEqual([one.ref, both.ref, anew.ref]);
  },
);

githubStory(
  'without reuse-results a group is tested also when its tree was',
  { layout: LAYOUT },
  async world => {
    const { github, app } = world;
    world.free();
    const group = await github.queueGroup(app, [await world.open()]);
    await leftGroup(world, group, 1);
    await github.destroyGroup(app, group, 'invalidated');
    const again = await github.queueGroup(app, group.pulls);
    expect((await leftGroup(world, again, 2)).testedBefore).toBeNull();
    expect(testedRefs(world)).toEqual([group.ref, again.ref]);
  },
);

/** Refs that jobs ran for, in that order. */
function testedRefs({ stage }: GithubWorld): readonly unknown[] {
  return stage.builds.map(({ variables }) => (variables.zuul as { readonly ref?: unknown }).ref);
}

function treeOf({ dir }: Repository, { headSha }: MergeGroup): Promise<string> {
  return git(dir, 'rev-parse', `${headSha}^{tree}`);
}

/** The newest item of the group, when so many of its items have left. */
async function leftGroup(world: GithubWorld, { ref }: MergeGroup, count: number): Promise<LiveItem> {
  const { observer, api } = world;
  const newest = await observer.until(`${count} items of ${ref} to leave`, async () => {
    const left = (await observer.finished()).filter(({ changes }) => changes[0]?.name === ref);
    return left.length === count && left.toSorted((a, b) => b.leftAt - a.leftAt)[0];
  });
  return api.get<LiveItem>(`/api/tenant/${TENANT}/item/${newest.uuid}`);
}

/** In the report, the decisions and the trace of the item. */
async function expectExplained(
  { github, app, api, sink, observer }: GithubWorld,
  { headSha, ref }: MergeGroup,
  { uuid, testedBefore, changes }: LiveItem,
): Promise<void> {
  await github.settled();
  const runs = app.checks.filter(check => check.headSha === headSha && check.externalId.includes(uuid));
  expect(runs).toMatchObject([{ name: 'tenant-one/groups', status: 'completed', conclusion: 'success' }]);
  expect(runs[0]?.output.summary).toContain(`/item/${testedBefore?.item}`);
  expect(changes[0]?.id).toBe(`${ref}@${headSha}`);
  const path = `/api/tenant/${TENANT}/changes/${encodeURIComponent(changes[0]?.id ?? '')}/decisions`;
  const { decisions } = await api.get<DecisionsDocument>(path);
  expect(decisions.filter(({ item }) => item === uuid).map(({ code }) => code)).toContain('tested-before');
  const buildset = await observer.until('the buildset to be traced', () =>
    sink.spans.find(({ traceId, name }) => traceId === uuid && name.startsWith('BuildSet')),
  );
  expect(buildset.attributes['gatehouse.link.tested_before']).toBe(testedBefore?.item);
  expect(buildset.links.map(({ traceId }) => traceId)).toContain(testedBefore?.item);
}

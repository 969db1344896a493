/** GitHub's own merge queue delegates to a pipeline. */
import { expect } from 'vitest';
import { githubStory } from './github-world.ts';

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

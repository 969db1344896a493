/** kill -9 while a build is paused: of its executor, and of the scheduler in charge. Its pause ends all the same, and nothing is left of it. */
import { expect, test } from 'vitest';
import type { LiveItem } from '../../../src/api/live-item.ts';
import { describeOnZooKeeper } from '../../setup/zookeeper.ts';
import { itemsInHistory } from '../landed.ts';
import type { Cluster } from './cluster.ts';
import { TENANT } from './layout.ts';
import { problemsOf, untilQuiet } from './outcome.ts';
import { stateOf } from './settings-text.ts';
import { storyCluster } from './story-cluster.ts';
import { gateFence } from './term-watch.ts';
import { useStory } from './use-story.ts';
import { waitFor } from './wait-for.ts';

/** The jobs of the only item once `registry`, at that attempt, is paused and `user` runs. */
function untilPaused(cluster: Cluster, attempt: number): Promise<LiveItem['jobs']> {
  return waitFor(`attempt ${attempt} of registry to be paused, and user to run`, () => {
    const [item] = [...(cluster.sightings.view()?.items.values() ?? [])];
    const job = (name: string) => item?.jobs.find(each => each.name === name);
    const registry = job('registry');
    const isPaused = registry?.attempt === attempt && registry.result === 'PAUSED';
    return isPaused && job('user')?.state === 'started' ? item?.jobs : undefined;
  });
}

describeOnZooKeeper('a paused build', () => {
  const story = useStory(() => storyCluster({ count: { merger: 1, web: 1 } }));

  test('survives kill -9 of its executor and of the scheduler in charge', { timeout: 300_000 }, async () => {
    const { cluster, terms } = story();
    const files = { 'paused.txt': 'yes\n' };
    const flow = cluster.push({ topic: 'paused', project: 'org/one', files, expected: 'SUCCESS' });
    await untilPaused(cluster, 1);
    await flow;
    // Of several executors the one that had the build is known by its log.
    const victim = cluster.ofRole('executor').find(({ lines }) => lines.some(isOfRegistry));
    if (victim === undefined) throw new Error('no executor has the build');
    await victim.kill();

    // The job that it was paused for runs again with it, and ends while no scheduler is in charge.
    await untilPaused(cluster, 2);
    const holder = terms.holder(gateFence(cluster));
    if (holder === undefined) throw new Error('no scheduler is in charge');
    await holder.kill();
    await untilQuiet(cluster);
    expect(await problemsOf(cluster)).toEqual([]);

    const [item] = await itemsInHistory(stateOf(cluster.root), TENANT);
    const builds = item?.buildset.builds ?? [];
    const of = (job: string) => builds.filter(build => build.job === job);
    expect(
      of('registry').map(({ state }) => (state.state === 'completed' ? state.result : state.state)),
    ).toEqual(['RETRY', 'SUCCESS']);
    const outdated = of('user').map(({ outdatedBy }) => outdatedBy === 'registry');
    expect(outdated.length).toBeGreaterThan(1);
    expect(outdated).toEqual(outdated.map((_, index) => index < outdated.length - 1));
    expect(item?.takeovers?.length).toBeGreaterThan(0);
    await Promise.all([victim.start(), holder.start()]);
  });
});

function isOfRegistry(line: string): boolean {
  return line.includes('a build begins') && line.includes('registry');
}

/** Three ZooKeeper servers; the one that leads dies while changes flow. */
import { expect, test } from 'vitest';
import { describeOnZooKeeper } from '../../setup/zookeeper.ts';
import { startFlow } from './flow.ts';
import { planChanges } from './load.ts';
import { problemsOf, untilQuiet } from './outcome.ts';
import { storyOnEnsemble } from './story-cluster.ts';
import { gateFence } from './term-watch.ts';
import { useStory } from './use-story.ts';
import { waitFor } from './wait-for.ts';

/** Seconds; on a loaded machine the servers themselves may need twenty. */
const LONGER_THAN_AN_ELECTION = 60;

describeOnZooKeeper('an ensemble that loses its leader', () => {
  const story = useStory(() =>
    storyOnEnsemble({ count: { merger: 1, executor: 1, web: 1 }, sessionTimeout: LONGER_THAN_AN_ELECTION }),
  );

  test('keeps every session, and the gate where it was', { timeout: 240_000 }, async () => {
    const { cluster, ensemble, terms } = story();
    const flow = startFlow(cluster, planChanges(8, 'leader'), 4);
    const before = cluster.log.transactions.length;
    await waitFor('changes to flow', () => cluster.log.transactions.length > before + 40);
    const holder = terms.holder(gateFence(cluster));
    const sessions = cluster.processes.flatMap(each => terms.sessionsOf(each.pid ?? 0));

    const leader = await ensemble.leader();
    await leader.kill();
    flow.allow(4);
    await flow.done;
    await leader.restart();
    await untilQuiet(cluster);
    expect(await problemsOf(cluster)).toEqual([]);
    expect(terms.holder(gateFence(cluster))?.name).toBe(holder?.name);
    expect(cluster.processes.flatMap(each => terms.sessionsOf(each.pid ?? 0))).toEqual(sessions);
  });
});

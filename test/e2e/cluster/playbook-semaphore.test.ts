/** SIGKILL of an executor whose playbook holds a semaphore: what it held is free when its session is over, and no other playbook had it before. */
import { expect, test } from 'vitest';
import { storePaths } from '../../../src/store/paths.ts';
import { describeOnZooKeeper } from '../../setup/zookeeper.ts';
import { CONFIG_FILES, TENANT } from './layout.ts';
import { planChanges } from './load.ts';
import { problemsOf, untilQuiet } from './outcome.ts';
import { isRetried, retriedBuildProblems } from './retried-builds.ts';
import { storyCluster } from './story-cluster.ts';
import { recover, strike, writers } from './strike.ts';
import type { LoggedTransaction } from './transaction-log.ts';
import { useStory } from './use-story.ts';

/** Long enough to be killed while it holds it, and for the other one to wait. */
const WORK = 3;

const configFiles = {
  ...CONFIG_FILES,
  'zuul.yaml': `${CONFIG_FILES['zuul.yaml']?.replace('run: playbooks/unit.sh', 'run: {name: playbooks/unit.sh, semaphores: staging}')}
- semaphore: {name: staging}
`,
  'playbooks/unit.sh': `#!/bin/sh\nsleep ${WORK}\n`,
};

describeOnZooKeeper('an executor with a playbook semaphore', () => {
  const story = useStory(() =>
    storyCluster({ count: { scheduler: 1, merger: 1, web: 1, executor: 2 }, configFiles }),
  );

  test('is killed: the playbook that waits elsewhere begins, and the build is tried again', {
    timeout: 300_000,
  }, async () => {
    const { cluster, terms } = story();
    const slot = `${storePaths(cluster.storeRoot).semaphore(TENANT, 'tenant', 'staging')}/`;
    const striking = strike(cluster, terms, 'kill', writers(cluster, terms, slot));
    for (const change of planChanges(2, 'held')) await cluster.push(change);
    await recover(cluster, terms, await striking);
    await untilQuiet(cluster);
    expect(await problemsOf(cluster)).toEqual([]);
    expect(retriedBuildProblems(cluster.sink.spans)).toEqual([]);
    const lost = cluster.sink.spans.filter(isRetried);
    expect(lost.map(({ attributes }) => attributes['gatehouse.detail'])).toContain('its executor is gone');

    const { taken, freed, trespasses } = holdingsOf(await cluster.log.read(), slot);
    // The lost one, the other change's, and the lost one's next attempt, at least.
    expect(taken).toBeGreaterThanOrEqual(3);
    expect(freed).toBe(taken);
    expect(trespasses).toEqual([]);
    expect(await cluster.api.get(`/api/tenant/${TENANT}/semaphores`)).toMatchObject([
      { name: 'staging', holders: { count: 0 } },
    ]);
  });
});

/** Who had the slots, by the server's own log. Ephemeral nodes go with their session, without an operation of their own. */
function holdingsOf(transactions: readonly LoggedTransaction[], slot: string) {
  const holders = new Map<string, string>();
  const trespasses: string[] = [];
  let taken = 0;
  let freed = 0;
  const free = (path: string) => {
    if (holders.delete(path)) freed += 1;
  };
  for (const { kind, session, operations } of transactions) {
    if (kind === 'session-ends')
      for (const [path, holder] of [...holders]) if (holder === session) free(path);
    for (const operation of operations) {
      if (!operation.path.startsWith(slot)) continue;
      if (operation.kind === 'delete') free(operation.path);
      if (operation.kind !== 'create') continue;
      if (holders.size > 0) trespasses.push(`${session} took ${operation.path}, which was held`);
      holders.set(operation.path, session);
      taken += 1;
    }
  }
  return { taken, freed, trespasses };
}

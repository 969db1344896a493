/**
 * kill -9 while a build is on a host, a real sshd: of its executor, of the scheduler in charge, and of the scheduler that grants hosts in
 * the moment in which it does. The host is cleaned and serves again, every job gets its result, and no place stays taken.
 */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { sshdHosts } from '../../fake/nodes-folder.ts';
import { processesWith } from '../../fake/processes-with.ts';
import { ON_BUBBLEWRAP, ON_SSHD } from '../../setup/provided.ts';
import { describeOnZooKeeper } from '../../setup/zookeeper.ts';
import type { Cluster } from './cluster.ts';
import { CONFIG_FILES, TENANT } from './layout.ts';
import { problemsOf, untilQuiet } from './outcome.ts';
import { storyCluster } from './story-cluster.ts';
import { type Choice, recover, strike } from './strike.ts';
import { gateFence, type TermWatch } from './term-watch.ts';
import { useStory } from './use-story.ts';
import { waitFor } from './wait-for.ts';

const sshd = inject('sshd');
/** Without one the user of a job has no name, which ssh wants. */
const bubblewrap = inject('bubblewrap');

const configFiles = (folder: string) => ({
  ...CONFIG_FILES,
  'zuul.yaml': (CONFIG_FILES['zuul.yaml'] ?? '').replace(
    'run: playbooks/unit.sh',
    'run: playbooks/unit.sh\n    nodeset: {nodes: [{name: builder, label: debian}]}',
  ),
  // It notes each build that is on the host, and ends when it may.
  'playbooks/unit.sh': `#!/bin/sh
set -eu
ssh -F "$GATEHOUSE_SSH_CONFIG" builder 'echo $LC_GATEHOUSE_BUILD >> ${folder}/begun; while [ ! -e ${folder}/go ]; do sleep 0.1; done'
`,
});

async function hostedCluster() {
  await using opening = new AsyncDisposableStack();
  const nodes = opening.use(await sshdHosts(sshd, ['one']));
  const { folder } = nodes;
  const story = opening.use(
    await storyCluster({
      ...{ count: { merger: 1, web: 1 }, configFiles: configFiles(folder) },
      sections: `\n${nodes.section}`,
    }),
  );
  const lifetime = opening.move();
  return { ...story, folder, [Symbol.asyncDispose]: () => lifetime.disposeAsync() };
}

/** Builds that were on the host, in order, once there are so many. */
async function begun(folder: string, count: number): Promise<readonly string[]> {
  return await waitFor(`build ${count} to be on the host`, async () => {
    const file = path.join(folder, 'begun');
    const builds = existsSync(file) ? (await readFile(file, 'utf8')).split('\n').filter(Boolean) : [];
    return builds.length >= count ? builds : undefined;
  });
}

const nothingOf = (build: string) =>
  !existsSync(path.join(homedir(), '.gatehouse', build)) &&
  processesWith(`LC_GATEHOUSE_BUILD=${build}`).length === 0;

const change = (topic: string) =>
  ({ topic, project: 'org/one', files: { [`${topic}.txt`]: 'yes\n' }, expected: 'SUCCESS' }) as const;

async function untilServing(cluster: Cluster): Promise<void> {
  await waitFor('the host to be in service and free', async () => {
    const nodes = await cluster.api.get<readonly { readonly state: string }[]>(`/api/tenant/${TENANT}/nodes`);
    return nodes.length === 1 && nodes.every(({ state }) => state === 'ready');
  });
}

describeOnZooKeeper('a build on a host', () => {
  describe.skipIf(sshd.kind !== 'found' || bubblewrap.kind !== 'found')(`${ON_SSHD} ${ON_BUBBLEWRAP}`, () => {
    const story = useStory(hostedCluster);

    test('survives kill -9 of its executor and of the schedulers', { timeout: 300_000 }, async () => {
      const { cluster, terms, folder } = story();
      await cluster.push(change('held'));
      const [first = ''] = await begun(folder, 1);
      const victim = cluster.ofRole('executor').find(({ lines }) => lines.some(line => isBegin(line, first)));
      if (victim === undefined) throw new Error('no executor has the build');
      await victim.kill();

      // What the first build left was removed before the second one began.
      const [, second = ''] = await begun(folder, 2);
      expect(nothingOf(first)).toBe(true);
      expect(await cluster.api.get(`/api/tenant/${TENANT}/nodeset-requests`)).toMatchObject([
        { uuid: second, state: 'fulfilled', nodes: ['one'] },
      ]);
      const holder = terms.holder(gateFence(cluster));
      if (holder === undefined) throw new Error('no scheduler is in charge');
      await holder.kill();
      await writeFile(path.join(folder, 'go'), '');
      await untilQuiet(cluster);
      await Promise.all([victim.start(), holder.start()]);
      await untilServing(cluster);

      const striking = strike(cluster, terms, 'kill', grantors(cluster, terms));
      await cluster.push(change('granted'));
      await recover(cluster, terms, await striking);
      await untilQuiet(cluster);
      await untilServing(cluster);
      expect(await problemsOf(cluster)).toEqual([]);
      const builds = await cluster.api.get<readonly { readonly job_name: string; readonly result: string }[]>(
        `/api/tenant/${TENANT}/builds`,
      );
      expect(builds.filter(({ job_name: job }) => job === 'unit').map(({ result }) => result)).toEqual([
        'SUCCESS',
        'SUCCESS',
        'RETRY',
      ]);
      const all = await begun(folder, 3);
      expect(all.filter(build => !nothingOf(build))).toEqual([]);
      expect(await cluster.api.get(`/api/tenant/${TENANT}/nodeset-requests`)).toEqual([]);
      const waits = cluster.sink.spans.filter(({ name }) => name === 'RequestNodes unit');
      expect(waits.map(({ attributes }) => attributes['gatehouse.nodes.hosts'])).toEqual([
        ['one'],
        ['one'],
        ['one'],
      ]);
    });
  });
});

function isBegin(line: string, build: string): boolean {
  return line.includes('a build begins') && line.includes(build);
}

/** The scheduler that gives hosts to a build. */
function grantors(cluster: Cluster, terms: TermWatch): Choice {
  const queue = `${cluster.storeRoot}/requests/build/default/queue/`;
  return ({ session, operations }) => {
    const isGrant = operations.some(
      ({ kind, path: place }) => kind === 'create' && place.startsWith(queue) && place.includes('-hosts-'),
    );
    const pid = isGrant ? terms.ownerOf(session) : undefined;
    return cluster.processes.find(each => each.pid !== undefined && each.pid === pid);
  };
}

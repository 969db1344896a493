/**
 * A host, a real sshd, in a zone of its own: its builds go to the executor of that zone alone, and while that executor is dead no other one gives
 * it builds, cleans it or calls it well. Builds without hosts stay with the executor without a zone.
 */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import type { NodesetRequestsDocument } from '../../../src/api/nodes.ts';
import { sshdHosts } from '../../fake/nodes-folder.ts';
import { processesWith } from '../../fake/processes-with.ts';
import { ON_BUBBLEWRAP, ON_SSHD } from '../../setup/provided.ts';
import { describeOnZooKeeper } from '../../setup/zookeeper.ts';
import { CONFIG_FILES, TENANT } from './layout.ts';
import { problemsOf, untilQuiet } from './outcome.ts';
import type { ClusterProcess } from './process.ts';
import { storyCluster } from './story-cluster.ts';
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

const change = (project: 'org/one' | 'org/two') =>
  ({
    topic: `of-${project.slice(4)}`,
    project,
    files: { 'held.txt': 'yes\n' },
    expected: 'SUCCESS',
  }) as const;

/** Jobs that it began, in order. */
function jobsOf({ lines }: ClusterProcess): readonly string[] {
  return lines.flatMap(line =>
    line.includes('a build begins') ? [/"job":"([^"]+)"/.exec(line)?.[1] ?? line] : [],
  );
}

const isThere = (build: string) =>
  existsSync(path.join(homedir(), '.gatehouse', build)) ||
  processesWith(`LC_GATEHOUSE_BUILD=${build}`).length > 0;

describeOnZooKeeper('a host of a zone', () => {
  describe.skipIf(sshd.kind !== 'found' || bubblewrap.kind !== 'found')(`${ON_SSHD} ${ON_BUBBLEWRAP}`, () => {
    test('gets builds and care from the executor of its zone alone', { timeout: 300_000 }, async () => {
      await using nodes = await sshdHosts(sshd, ['inside'], undefined, 'dmz');
      const { folder, section } = nodes;
      await using story = await storyCluster({
        ...{ count: { scheduler: 1, merger: 1, web: 1 }, configFiles: configFiles(folder) },
        ...{ executors: { 'executor-2': 'zone = dmz' }, sections: `\n${section}` },
      });
      const { cluster } = story;
      const [outside, ofZone] = [cluster.process('executor-1'), cluster.process('executor-2')];
      const begun = (count: number) =>
        waitFor(`build ${count} to be on the host`, async () => {
          const file = path.join(folder, 'begun');
          const builds = existsSync(file) ? (await readFile(file, 'utf8')).split('\n').filter(Boolean) : [];
          return builds.length >= count ? builds : undefined;
        });
      const host = async () => {
        const all = await cluster.api.get<
          readonly { readonly state: string; readonly comment: string | null }[]
        >(`/api/tenant/${TENANT}/nodes`);
        return all[0];
      };

      await cluster.push(change('org/one'));
      const [first = ''] = await begun(1);
      expect([jobsOf(outside), jobsOf(ofZone)]).toEqual([[], ['unit']]);

      await ofZone.kill();
      // Its executor was lost over a build: that is what is wrong with the host itself. What waits for it says the rest.
      await waitFor('the build to wait for an executor of the zone', async () => {
        const [waiting] = await cluster.api.get<NodesetRequestsDocument>(
          `/api/tenant/${TENANT}/nodeset-requests`,
        );
        return waiting?.gatehouse.hosts[0]?.unreached.includes('no executor of zone dmz is running');
      });
      // The other one goes on with what needs no hosts, and leaves this one as it is.
      await cluster.push(change('org/two'));
      await waitFor('the job without hosts to run', () => jobsOf(outside).includes('integration'));
      expect([jobsOf(outside), isThere(first)]).toEqual([['integration'], true]);
      expect(await host()).not.toMatchObject({ state: 'ready' });
      expect(await begun(1)).toEqual([first]);

      await ofZone.start();
      const [, second = ''] = await begun(2);
      expect([second === first, isThere(first)]).toEqual([false, false]);
      await writeFile(path.join(folder, 'go'), '');
      await untilQuiet(cluster);
      expect(await problemsOf(cluster)).toEqual([]);
      expect(new Set(jobsOf(outside))).toEqual(new Set(['integration']));
      expect(new Set(jobsOf(ofZone))).toEqual(new Set(['unit']));
      await waitFor('the host to be free', async () => (await host())?.state === 'ready');
      expect((await begun(2)).filter(isThere)).toEqual([]);
    });
  });
});

/** Jobs on machines of `nodes.yaml`, each a real sshd: who gets which, what a job finds there, and what is left when one of them dies. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { type NamedHost, sshdHosts } from '../fake/nodes-folder.ts';
import { processesWith } from '../fake/processes-with.ts';
import { keyPair, type SshHost } from '../fake/ssh-host.ts';
import { describeOnAnsible } from '../setup/ansible.ts';
import { ON_SSHD } from '../setup/provided.ts';
import { hasZooKeeper } from '../setup/zookeeper.ts';
import { layoutWith } from './layouts.ts';
import { DEADLINE } from './observer.ts';
import { openWorld } from './open-world.ts';
import { storeTexts } from './store-texts.ts';
import { freshRoot } from './story.ts';

const layout = layoutWith(
  `
- nodeset:
    name: pair
    nodes: [{name: web, label: debian}, {name: db, label: debian}]
    groups: [{name: servers, nodes: [web, db]}]
- job:
    name: deploy
    run: [playbooks/deploy.yaml]
    nodeset: pair
- job:
    name: unit
    run: [playbooks/unit.sh]
    dependencies: [deploy]
    nodeset: {nodes: [{name: builder, label: debian}]}
- project:
    name: org/project
    gate: {jobs: [deploy, unit]}
`,
  { notes: false },
);
const configFiles = {
  'playbooks/deploy.yaml': `
- hosts: servers
  gather_facts: false
  tasks:
    - name: Where am I
      shell: 'echo "\${SSH_CONNECTION##* } {{ ansible_user }} {{ nodepool.label }}"; nohup sleep 1000 >/dev/null 2>&1 &'
      register: seen
    - name: Show
      debug: {msg: "{{ inventory_hostname }} is at {{ seen.stdout }}"}
`,
  'playbooks/unit.sh': `#!/bin/sh
set -eu
ssh -F "$GATEHOUSE_SSH_CONFIG" builder 'echo "over ssh at \${SSH_CONNECTION##* }"; touch .gatehouse/$LC_GATEHOUSE_BUILD/left'
! ssh-add -L | grep PRIVATE
`,
};

const dying = layoutWith(
  `
- job:
    name: unit
    run: [playbooks/unit.sh]
    nodeset: {nodes: [{name: builder, label: debian}]}
- project:
    name: org/project
    gate: {jobs: [unit]}
`,
  { notes: false },
);

const sshd = inject('sshd');

/** Two machines. @param more of the file. */
async function twoHosts(more?: (one: SshHost) => readonly NamedHost[]) {
  const hosts = await sshdHosts(sshd, ['one', 'two'], more);
  const [one, two] = hosts.machines;
  if (one === undefined || two === undefined) throw new Error('too few machines');
  return {
    ...{ ...hosts, one, two },
    setup: { executor: ['sandbox = bubblewrap'], sections: [hosts.section] },
  };
}

interface ShownRequest {
  readonly gatehouse: { readonly hosts: readonly { readonly quarantined: number }[] };
}

interface ShownBuild {
  readonly uuid: string;
  readonly job_name: string;
  readonly result: string;
}

const TENANT = '/api/tenant/tenant-one';

describeOnAnsible('jobs on hosts', () => {
  describe.skipIf(sshd.kind !== 'found')(ON_SSHD, () => {
    test('run there over ssh, leave nothing behind, and pass over a host that is not what it was', {
      timeout: 4 * DEADLINE,
    }, async () => {
      await using hosts = await twoHosts(({ port }) => [
        { name: 'a-impostor', port, hostKey: keyPair().public },
      ]);
      const { one, two, setup, canary } = hosts;
      const expectedTrouble = [/a host is quarantined.*a-impostor.*a host key that is not pinned/];
      const world = await openWorld({ layout, configFiles, expectedTrouble, ...setup }, { kind: 'embedded' });
      try {
        world.free();
        await world.observer.until('the hosts to be published', async () => {
          const nodes = await world.api.get<readonly object[]>(`${TENANT}/nodes`);
          return nodes.length === 3;
        });
        await world.operator.post('/api/nodes/one/hold', { reason: 'a new disk' });
        await world.propose('A');
        await world.approve('A');
        // The impostor was found out, and too few hosts are left.
        const waiting = await world.observer.until('the build to wait for nodes', async () => {
          const [request] = await world.api.get<readonly ShownRequest[]>(`${TENANT}/nodeset-requests`);
          return request?.gatehouse.hosts[0]?.quarantined === 1 ? request : undefined;
        });
        expect(waiting).toMatchObject({
          ...{ state: 'requested', labels: ['debian', 'debian'], nodes: [] },
          gatehouse: {
            ...{ position: 1, waiting: 1 },
            hosts: [{ label: 'debian', hosts: 3, free: 1, in_use: 0, quarantined: 1, held: 1 }],
          },
        });
        const item = await world.observer.until('the item to wait for nodes', () => {
          const [found] = world.observer.items();
          return found?.state.name === 'nodes' ? found : undefined;
        });
        const explained = await world.api.get<object>(`${TENANT}/item/${item.uuid}/explain`);
        expect(explained).toMatchObject({
          nodeWaits: [
            {
              job: 'deploy',
              text: 'place 1 of 1 in the queue; of 3 hosts with debian 1 free, 1 quarantined, 1 held',
            },
          ],
        });
        expect(item).toMatchObject({
          state: { subject: '2 × debian' },
          jobs: [{ name: 'deploy', waitingFor: 'nodes: 2 × debian' }, { name: 'unit' }],
        });
        await world.operator.post('/api/nodes/one/release', {});
        await world.leaves('A', 'SUCCESS');
        const builds = await world.api.get<readonly ShownBuild[]>(`${TENANT}/builds`);
        const logOf = (job: string) =>
          world.api.text(`${TENANT}/build/${builds.find(each => each.job_name === job)?.uuid}/log`);
        const deployed = await logOf('deploy');
        expect(deployed).toContain(`is at ${one.port} root debian`);
        expect(deployed).toContain(`is at ${two.port} root debian`);
        expect(await logOf('unit')).toMatch(/over ssh at \d+/);
        for (const { uuid } of builds) {
          expect(existsSync(path.join(homedir(), '.gatehouse', uuid))).toBe(false);
          expect(processesWith(`LC_GATEHOUSE_BUILD=${uuid}`)).toEqual([]);
        }
        expect(await world.api.get(`${TENANT}/labels`)).toEqual([{ name: 'debian' }]);
        expect(await world.api.get(`${TENANT}/nodeset-requests`)).toEqual([]);
        await world.operator.post('/api/nodes/one/hold', { reason: 'a new disk' });
        expect(await world.api.get(`${TENANT}/nodes`)).toMatchObject([
          { id: 'a-impostor', state: 'failed', comment: 'it shows a host key that is not pinned' },
          { id: 'one', state: 'hold', comment: 'a new disk', type: ['debian'] },
          { id: 'two', state: 'ready', comment: null },
        ]);
        await world.operator.post('/api/nodes/one/release', {});
        for (const [name, text] of await storeTexts(world)) expect(text.includes(canary), name).toBe(false);
        const spans = JSON.stringify(world.sink.spans, (_, value) =>
          typeof value === 'bigint' ? '' : value,
        );
        expect([spans, world.log.tail()].filter(text => text.includes(canary))).toEqual([]);
        await world.end();
      } finally {
        await world[Symbol.asyncDispose]();
      }
    });

    test('are tried again on another host when theirs dies, which comes back when it is cleaned', {
      timeout: 4 * DEADLINE,
    }, async () => {
      await using hosts = await twoHosts();
      const { one, two, setup, folder } = hosts;
      const begun = path.join(folder, 'begun');
      const unit = `#!/bin/sh
set -eu
ssh -F "$GATEHOUSE_SSH_CONFIG" builder 'echo "at \${SSH_CONNECTION##* }"; test -e ${begun} || { touch ${begun}; sleep 1000; }'
`;
      const world = await openWorld(
        { layout: dying, configFiles: { 'playbooks/unit.sh': unit }, ...setup },
        hasZooKeeper() ? freshRoot() : { kind: 'embedded' },
      );
      try {
        world.free();
        await world.propose('A');
        await world.approve('A');
        await world.observer.until('the job to run on the host', () => existsSync(begun));
        await one.crash();
        await world.leaves('A', 'SUCCESS');
        const builds = await world.api.get<readonly ShownBuild[]>(`${TENANT}/builds`);
        expect(builds.map(({ result }) => result)).toEqual(['SUCCESS', 'RETRY']);
        const [last, first] = builds;
        expect(await world.api.text(`${TENANT}/build/${last?.uuid}/log`)).toContain(`at ${two.port}`);
        expect(await world.api.text(`${TENANT}/build/${first?.uuid}/log`)).toMatch(
          /host one is lost: .*ECONNREFUSED/,
        );
        await one.boot();
        await world.observer.until('the host to be in service', async () => {
          const nodes = await world.api.get<readonly { readonly state: string }[]>(`${TENANT}/nodes`);
          return nodes.every(({ state }) => state === 'ready');
        });
        expect(existsSync(path.join(homedir(), '.gatehouse', first?.uuid ?? ''))).toBe(false);
        expect(processesWith(`LC_GATEHOUSE_BUILD=${first?.uuid}`)).toEqual([]);
        await world.end();
      } finally {
        await world[Symbol.asyncDispose]();
      }
    });
  });
});

/** A change whose jobs run on pods, on a cluster of the caller's: made, reached by Ansible and by scripts, deleted, refused, ended from inside. */
import { expect } from 'vitest';
import { layoutWith } from './layouts.ts';
import { openWorld } from './open-world.ts';
import type { World } from './world.ts';

const layout = layoutWith(`
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
    nodeset: {nodes: [{name: builder, label: debian}]}
- job:
    name: pull
    run: [playbooks/unit.sh]
    voting: false
    nodeset: {nodes: [{name: builder, label: invalid}]}
- job:
    name: quit
    run: [playbooks/quit.sh]
    attempts: 2
    voting: false
    nodeset: {nodes: [{name: builder, label: debian}]}
- project:
    name: org/project
    gate: {jobs: [deploy, unit, pull, quit]}
`);
const configFiles = {
  'playbooks/deploy.yaml': `
- hosts: servers
  gather_facts: false
  tasks:
    - name: Where am I
      shell: 'echo "\${POD:-$(hostname)} {{ nodepool.label }}"'
      register: seen
    - name: Copy a file
      copy: {dest: "{{ ansible_env_home | default('~') }}/note", content: "{{ inventory_hostname }}"}
    - name: Show
      debug: {msg: "{{ inventory_hostname }} is {{ seen.stdout }}"}
`,
  'playbooks/unit.sh': `#!/bin/sh
set -eu
ssh -F "$GATEHOUSE_SSH_CONFIG" builder 'echo "in \${POD:-$(hostname)}"; cat >left; wc -c <left' </etc/passwd
status=0; ssh -F "$GATEHOUSE_SSH_CONFIG" builder 'echo wrong >&2; exit 7' || status=$?
echo "status $status"
`,
  'playbooks/quit.sh': `#!/bin/sh
exec ssh -F "$GATEHOUSE_SSH_CONFIG" builder 'kill \${MAIN:-1}; exec sleep 1000'
`,
};

const TENANT = '/api/tenant/tenant-one';

interface ShownBuild {
  readonly uuid: string;
  readonly job_name: string;
  readonly result: string;
  readonly error_detail: string | null;
}

/** @param section of the settings, that names the file of nodes. */
export function openPodsWorld(section: string, expectedTrouble: readonly RegExp[] = []): Promise<World> {
  const setup = { executor: ['sandbox = bubblewrap'], sections: [section], expectedTrouble };
  return openWorld({ layout, configFiles, ...setup }, { kind: 'embedded' });
}

/** @returns once the change has landed, and all that can be read of its builds is as it must be. */
export async function playPods(world: World, machine: RegExp): Promise<void> {
  world.free();
  await world.propose('A');
  await world.approve('A');
  await world.leaves('A', 'SUCCESS');
  const builds = await world.api.get<readonly ShownBuild[]>(`${TENANT}/builds`);
  const of = (job: string) => builds.find(each => each.job_name === job);
  const logOf = (job: string) => world.api.text(`${TENANT}/build/${of(job)?.uuid}/log`);
  const deployed = await logOf('deploy');
  expect(deployed).toMatch(/web is gatehouse-[0-9a-f-]+ debian/);
  expect(deployed).toMatch(/db is gatehouse-[0-9a-f-]+ debian/);
  const unit = await logOf('unit');
  expect(unit).toMatch(new RegExp(`builder is pod gatehouse-\\S+ of cluster, on ${machine.source}`));
  expect(unit).toMatch(/in gatehouse-.*\n.*\d{3,}.*\n.*wrong\n.*status 7/);
  expect(of('pull')).toMatchObject({
    result: 'NODE_FAILURE',
    error_detail: 'cluster: it did not start: InvalidImageName: it is no image',
  });
  // What a job can bring about itself is an attempt.
  expect(builds.filter(each => each.job_name === 'quit')).toMatchObject([
    {
      result: 'RETRY_LIMIT',
      error_detail: expect.stringMatching(/^host cluster is lost: pod \S+: it has ended: Completed$/),
    },
    { result: 'RETRY' },
  ]);
  expect(await world.api.get(`${TENANT}/labels`)).toEqual([{ name: 'debian' }, { name: 'invalid' }]);
  expect(await world.api.get(`${TENANT}/nodes`)).toMatchObject([
    { id: 'cluster', provider: 'nodes.yaml/kubernetes', state: 'ready', gatehouse: { in_use: 0 } },
  ]);
}

/** @returns once the service has ended. */
export async function podsSpansSeen(world: World): Promise<void> {
  await world.end();
  const waits = world.sink.spans.filter(({ name }) => name === 'RequestNodes unit');
  expect(waits.at(-1)?.attributes).toMatchObject({ 'gatehouse.nodes.provider': 'kubernetes' });
  // A wait that ended with an API server that was away has the first step alone.
  const steps = ['nodes-granted', 'node-created', 'node-scheduled', 'node-ready'];
  expect(waits.map(({ events }) => events.map(({ name }) => name))).toContainEqual(steps);
}

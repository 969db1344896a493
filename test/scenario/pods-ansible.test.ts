/** Jobs on pods of a Kubernetes provider, which a fake API server has and a stand-in for the kubelet runs: made, reached, deleted, kept, refused. */
import { describe, expect, inject, test } from 'vitest';
import { MACHINE } from '../fake/kubernetes/kubelet.ts';
import { startCluster } from '../fake/kubernetes/start-cluster.ts';
import { describeOnAnsible } from '../setup/ansible.ts';
import { ON_SSHD } from '../setup/provided.ts';
import { layoutWith } from './layouts.ts';
import { DEADLINE } from './observer.ts';
import { openWorld } from './open-world.ts';

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
      shell: 'echo "$POD {{ nodepool.label }}"'
      register: seen
    - name: Copy a file
      copy: {dest: "{{ ansible_env_home | default('~') }}/note", content: "{{ inventory_hostname }}"}
    - name: Show
      debug: {msg: "{{ inventory_hostname }} is {{ seen.stdout }}"}
`,
  'playbooks/unit.sh': `#!/bin/sh
set -eu
ssh -F "$GATEHOUSE_SSH_CONFIG" builder 'echo "in $POD"; cat >left; wc -c <left' </etc/passwd
status=0; ssh -F "$GATEHOUSE_SSH_CONFIG" builder 'echo wrong >&2; exit 7' || status=$?
echo "status $status"
`,
  'playbooks/quit.sh': `#!/bin/sh
exec ssh -F "$GATEHOUSE_SSH_CONFIG" builder 'kill -9 $MAIN; exec sleep 1000'
`,
};

const TENANT = '/api/tenant/tenant-one';

interface ShownBuild {
  readonly uuid: string;
  readonly job_name: string;
  readonly result: string;
  readonly error_detail: string | null;
}

describeOnAnsible('jobs on pods', () => {
  describe.skipIf(inject('sshd').kind !== 'found')(ON_SSHD, () => {
    test('run in pods that are made for them, and end with the words of the provider where there are none', {
      timeout: 4 * DEADLINE,
    }, async () => {
      await using provider = await startCluster();
      const { api } = provider;
      const setup = { executor: ['sandbox = bubblewrap'], sections: [provider.section] };
      const world = await openWorld({ layout, configFiles, ...setup }, { kind: 'embedded' });
      try {
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
        expect(unit).toMatch(new RegExp(`builder is pod gatehouse-\\S+ of cluster, on ${MACHINE}`));
        expect(unit).toMatch(/in gatehouse-.*\n.*\d{3,}.*\n.*wrong\n.*status 7/);
        expect(of('pull')).toMatchObject({
          result: 'NODE_FAILURE',
          error_detail: 'cluster: it did not start: InvalidImageName: it is no image',
        });
        // What a job can bring about itself is an attempt.
        expect(builds.filter(each => each.job_name === 'quit')).toMatchObject([
          {
            result: 'RETRY_LIMIT',
            error_detail: expect.stringMatching(/^host cluster is lost: pod \S+: it has ended: Error$/),
          },
          { result: 'RETRY' },
        ]);
        expect(api.pods()).toEqual([]);
        for (const pod of api.created()) expect(provider.kubelet.running(pod)).toBe(0);
        expect(await world.api.get(`${TENANT}/labels`)).toEqual([{ name: 'debian' }, { name: 'invalid' }]);
        const nodes = await world.api.get(`${TENANT}/nodes`);
        expect(nodes).toMatchObject([
          { id: 'cluster', provider: 'kubernetes', state: 'ready', gatehouse: { in_use: 0 } },
        ]);
        await world.end();
        const [wait] = world.sink.spans.filter(({ name }) => name === 'RequestNodes unit');
        expect(wait?.attributes).toMatchObject({ 'gatehouse.nodes.provider': 'kubernetes' });
        expect(wait?.events.map(({ name }) => name)).toEqual([
          'nodes-granted',
          'node-created',
          'node-scheduled',
          'node-ready',
        ]);
      } finally {
        await world[Symbol.asyncDispose]();
      }
    });
  });
});

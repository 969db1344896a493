/** The version of Ansible that a job names goes from the settings through the layout to an executor that has it. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect } from 'vitest';
import type { ComponentsJson } from '../../src/api/components.ts';
import { layoutWith } from './layouts.ts';
import { story } from './story.ts';

/** Only says which it is: what is run is a matter of unit/executor/ansible.test.ts. Not below `/tmp`, of which jobs have one of their own. */
const root = mkdtempSync('/var/tmp/gatehouse-ansibles-');
chmodSync(root, 0o755);
afterAll(() => rmSync(root, { recursive: true }));
for (const version of ['9', '11']) {
  mkdirSync(join(root, version, 'bin'), { recursive: true });
  const text = `#!/bin/sh\necho "this is Ansible ${version}"\n`;
  writeFileSync(join(root, version, 'bin/ansible-playbook'), text, { mode: 0o755 });
}

const layout = layoutWith(
  `
- job: {name: nine, run: playbooks/say.yaml, ansible-version: 9}
- job: {name: usual, run: playbooks/say.yaml}
- job: {name: nowhere, run: playbooks/say.yaml, ansible-version: 12, voting: false}
- project: {name: org/project, check: {jobs: [nine, usual, nowhere]}}
`,
  { check: true },
);

describe('jobs that choose a version of Ansible', () => {
  story(
    'run where it is installed, with the default of their tenant where they name none, and end at once where it is nowhere',
    {
      layout,
      configFiles: { 'playbooks/say.yaml': '- hosts: all\n' },
      scheduler: ['ansible_versions = 9, 11, 12', 'default_ansible_version = 9'],
      tenantOptions: ['default-ansible-version: 11'],
      executor: [`ansible_root = ${root}`],
    },
    async world => {
      const components = await world.api.get<ComponentsJson>('/api/components');
      expect(components.executor?.map(({ gatehouse }) => gatehouse.ansible_versions)).toEqual([['11', '9']]);
      await world.propose('A');
      await world.leaves('A', 'SUCCESS', 'check');
      const builds = await world.api.get<readonly BuildRow[]>('/api/tenant/tenant-one/builds');
      expect(new Map(builds.map(({ job_name, result }) => [job_name, result]))).toEqual(
        new Map([
          ['nine', 'SUCCESS'],
          ['usual', 'SUCCESS'],
          ['nowhere', 'NODE_FAILURE'],
        ]),
      );
      for (const [job, version] of [
        ['nine', '9'],
        ['usual', '11'],
      ]) {
        const uuid = builds.find(({ job_name }) => job_name === job)?.uuid;
        const log = await world.api.text(`/api/tenant/tenant-one/build/${uuid}/log`);
        expect(log).toContain(`this is Ansible ${version}`);
      }
      const [note = ''] = await world.notes('A');
      expect(note).toContain('no executor has Ansible 12 (installed: 11, 9)');
    },
  );
});

interface BuildRow {
  readonly uuid: string;
  readonly job_name: string;
  readonly result: string | null;
}

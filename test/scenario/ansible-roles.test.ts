/** Roles of other projects: proposed ones for playbooks that run as proposed, landed ones for trusted playbooks. */
import { expect } from 'vitest';
import { BASE_JOB } from '../fake/layout-text.ts';
import { describeOnAnsible } from '../setup/ansible.ts';
import { layoutWith } from './layouts.ts';
import { story } from './story.ts';
import type { World } from './world.ts';

const layout = `${layoutWith('', { check: true }).replace(BASE_JOB, '')}
- job:
    name: base
    parent: null
    pre-run: playbooks/base.yaml
    roles:
      - zuul: org/roles
      - zuul: org/ansible-role-greet
        name: greet
`;
const play = (name: string, ...roles: readonly string[]) => `
- name: ${name}
  hosts: all
  gather_facts: false
  vars: {who: ${name}}
  roles: [${roles.join(', ')}]
`;
const says = (text: string) => `- debug: {msg: "{{ who }}: ${text}"}\n`;
const projects = {
  'org/roles': { 'roles/hello/tasks/main.yaml': says('hello as landed') },
  'org/ansible-role-greet': { 'tasks/main.yaml': says('greet as landed') },
  'org/project': {
    '.zuul.yaml': `
- job: {name: unit, run: ci/unit.yaml}
- project:
    check: {jobs: [unit]}
    gate: {jobs: [unit]}
`,
    'ci/unit.yaml': play('unit', 'hello', 'greet', 'own'),
    'roles/own/tasks/main.yaml': says('own role'),
  },
};
const setup = { layout, projects, configFiles: { 'playbooks/base.yaml': play('base', 'hello', 'greet') } };

describeOnAnsible('roles of jobs', () => {
  story(
    'are those of the change for its playbooks, and those that landed for trusted ones',
    setup,
    async world => {
      await world.propose('A', {
        project: 'org/roles',
        files: { 'roles/hello/tasks/main.yaml': says('hello as proposed') },
      });
      await world.propose('B', {
        project: 'org/ansible-role-greet',
        files: { 'tasks/main.yaml': says('greet as proposed') },
        message: 'Depends-On: org/roles@master/A',
      });
      await world.propose('C', { message: 'Depends-On: org/ansible-role-greet@master/B' });
      await world.leaves('C', 'SUCCESS', 'check');
      const log = await logOf(world, 'C');
      for (const line of ['base: hello as landed', 'base: greet as landed']) expect(log).toContain(line);
      for (const line of ['unit: hello as proposed', 'unit: greet as proposed', 'unit: own role'])
        expect(log).toContain(line);
    },
  );

  story('that are not to be had are mistakes with a place, or an error of the job', setup, async world => {
    const config = (roles: string) => `
- job: {name: unit, run: ci/unit.yaml, roles: ${roles}}
- project: {check: {jobs: [unit]}}
`;
    await world.propose('A', { files: { '.zuul.yaml': config('[{zuul: org/rolls}]') } });
    await world.leaves('A', 'CONFIG_ERROR', 'check');
    const [note = ''] = await world.notes('A');
    expect(note).toMatch(/\.zuul\.yaml:2.*project "org\/rolls" is not in tenant/);

    // What is proposed took the roles away.
    await world.propose('B', { project: 'org/roles', files: { 'roles/hello/tasks/main.yaml': null, x: '' } });
    await world.propose('C', { message: 'Depends-On: org/roles@master/B' });
    await world.leaves('C', 'FAILURE', 'check');
    expect(await logOf(world, 'C')).toMatch(
      /RESULT: ERROR: playbook local\/org\/project\/ci\/unit\.yaml cannot run: project local\/org\/roles is listed in roles and has neither roles\/ nor tasks\/ at commit/,
    );
  });

  story(
    'whose repository cannot be read are waited for, and are no verdict',
    {
      ...setup,
      overHttp: true,
      expectedTrouble: [
        /waits for the code host/,
        /Unable to update/,
        /cannot poll/,
        /cannot read the configuration/,
        /is in trouble/,
      ],
    },
    async world => {
      await world.propose('R', {
        project: 'org/roles',
        files: { 'roles/hello/tasks/main.yaml': says('hello as proposed') },
      });
      world.host?.ail(({ project }) =>
        /^org\/roles/.test(project) ? { kind: 'status', status: 403 } : undefined,
      );
      await world.propose('A');
      await world.observer.until(
        'the change to wait for the host',
        () => world.item('A', 'check')?.hostWait?.project === 'org/roles',
      );
      world.host?.heal();
      await world.leaves('A', 'SUCCESS', 'check');
      const log = await logOf(world, 'A');
      expect(log).toContain('unit: hello as landed');
      // R is none of its changes.
      expect(log).not.toContain('as proposed');
    },
  );
});

/** Log of the build of the item, which has left. */
async function logOf(world: World, topic: string): Promise<string> {
  const builds = await world.api.get<
    readonly { readonly uuid: string; readonly ref: { readonly change: string } }[]
  >('/api/tenant/tenant-one/builds');
  const build = builds.find(({ ref }) => ref.change === `master/${topic}`);
  return world.api.text(`/api/tenant/tenant-one/build/${build?.uuid}/log`);
}

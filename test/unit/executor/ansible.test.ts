/** Playbooks for Ansible, run by a real ansible-playbook where there is one. */
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CORE_SCHEMA, defineScalarTag, load } from 'js-yaml';
import { afterAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { installedAnsibles } from '../../../src/executor/ansible/installed-ansibles.ts';
import { variablesYaml } from '../../../src/executor/ansible/variables-yaml.ts';
import type { BuildRequest, BuildRole } from '../../../src/model/build-request.ts';
import { parseCommitId } from '../../../src/model/project.ts';
import type { Step } from '../../../src/model/step.ts';
import { SILENT } from '../../fake/silent-log.ts';
import { describeOnAnsible } from '../../setup/ansible.ts';
import { type Bench, buildRequest, openBench, script } from './fixture.ts';

const playbook = (...lines: readonly string[]) => `${lines.join('\n')}\n`;

/** `<kind> <name> <outcome or result>`, parts indented. */
function drawn(steps: readonly Step[] | undefined, indent = ''): readonly string[] {
  return (steps ?? []).flatMap(({ kind, subject, result, facts, steps: parts }) => [
    `${indent}${kind} ${subject}: ${facts?.outcome ?? result ?? 'none'}`,
    ...drawn(parts, `${indent}  `),
  ]);
}

describe('variables for Ansible', () => {
  const UNSAFE = defineScalarTag('!unsafe', { identify: () => false, resolve: text => ({ data: text }) });
  const read = (text: string) => load(text, { schema: CORE_SCHEMA.withTags(UNSAFE) });

  test('are data: every text is marked, keys, numbers and lists are as they are', () => {
    const variables = { zuul: { branch: '{{ x }}', attempts: 2, voting: true, tags: ['a', null] } };
    expect(variablesYaml(variables)).toBe(
      '{"zuul": {"branch": !unsafe "{{ x }}", "attempts": 2, "voting": true, "tags": [!unsafe "a", null]}}',
    );
    expect(read(variablesYaml(variables))).toEqual({
      zuul: { branch: { data: '{{ x }}' }, attempts: 2, voting: true, tags: [{ data: 'a' }, null] },
    });
  });

  test.each([
    '"quoted\\ back"',
    'line\nbreak\ttab',
    'grüße 😀',
    '\u007f\u0085\u2028\ufeff\ufffe',
    '',
    '---',
    '!unsafe x',
  ])('hold %j unchanged', text => {
    expect(read(variablesYaml({ [text]: text }))).toEqual({ [text]: { data: text } });
  });

  test('lose what is no character', () => {
    expect(read(variablesYaml('a\ud800'))).toEqual({ data: 'a\ufffd' });
  });
});

/** Of versions that are all the same program, which says by which name it was started. Jobs have a `/tmp` of their own. */
async function ansibleRoot(
  program: string,
  versions: readonly string[],
  folder = '/var/tmp',
): Promise<string> {
  const root = await mkdtemp(join(folder, 'gatehouse-ansibles-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  await chmod(root, 0o755);
  for (const version of versions) {
    await mkdir(join(root, version, 'bin'), { recursive: true });
    const text = script(`echo "this is Ansible ${version}"; exec ${program} "$@"`);
    await writeFile(join(root, version, 'bin/ansible-playbook'), text, { mode: 0o755 });
  }
  return root;
}

describe('the versions of Ansible of an executor', () => {
  test('are the folders that have it, and what cannot be used is named in its log', async () => {
    const root = await ansibleRoot('/bin/true', ['8', '11']);
    await mkdir(join(root, 'empty'));
    await mkdir(join(root, 'away/bin'), { recursive: true });
    await writeFile(join(root, 'a file'), '');
    const elsewhere = await ansibleRoot('/bin/true', ['9']);
    await symlink(join(elsewhere, '9/bin/ansible-playbook'), join(root, 'away/bin/ansible-playbook'));
    const warnings: unknown[] = [];
    const log = { info: () => {}, warn: (facts: object) => void warnings.push(facts) };
    expect([...(await installedAnsibles(root, log))]).toEqual([
      ['11', join(root, '11/bin/ansible-playbook')],
      ['8', join(root, '8/bin/ansible-playbook')],
    ]);
    expect(warnings).toEqual([{ version: 'away', reason: expect.stringContaining(`leads to ${elsewhere}`) }]);
  });

  test('are none without a folder, where it cannot be read, and where jobs have a folder of their own', async () => {
    expect(await installedAnsibles(undefined, SILENT)).toEqual(new Map());
    const hidden = await ansibleRoot('/bin/true', ['8'], '/tmp');
    expect(await installedAnsibles(hidden, SILENT)).toEqual(new Map());
    const warnings: string[] = [];
    const log = { info: () => {}, warn: (_: object, text: string) => void warnings.push(text) };
    expect(await installedAnsibles('/nowhere/at/all', log)).toEqual(new Map());
    expect(warnings[0]).toBe('[executor] ansible_root cannot be read');
  });

  test('decide which builds it takes, and one that has vanished since is no verdict', async () => {
    const root = await ansibleRoot('/bin/true', ['8']);
    const ansibles = await installedAnsibles(root, SILENT);
    await using bench = await openBench({ sandbox: 'none', ansibles });
    const commit = await bench.commit({ 'ci/play.yaml': playbook('- hosts: all') });
    const wants = (ansibleVersion: string) =>
      buildRequest(commit, { run: ['ci/play.yaml'] }, { jobFacts: { ansibleVersion } });
    const other = bench.submit(wants('9'));
    await rm(join(root, '8'), { recursive: true });
    const { result } = await bench.submit(wants('8')).ended;
    expect(result).toMatchObject({
      result: 'RETRY',
      detail: 'Ansible 8 is not there any more; restart this executor',
    });
    // Neither taken nor ended.
    expect(bench.executor.running().map(each => each.build)).not.toContain(other.request.uuid);
    expect(await Promise.race([other.ended, 'waits'])).toBe('waits');
  });
});

describe('an executor without Ansible', () => {
  test('ends the build with ERROR and says what is missing', async () => {
    const empty = await mkdtemp(join(tmpdir(), 'gatehouse-no-ansible-'));
    await using bench = await openBench({ sandbox: 'none', path: empty });
    const commit = await bench.commit({
      'ci/play.yaml': playbook('- hosts: all'),
      'ci/ok.sh': script('echo NEVER'),
    });
    const build = buildRequest(commit, { preRun: ['ci/ok.sh'], run: ['ci/play.yaml'] });
    const { result, log } = await bench.submit(build).ended;
    expect(result.result).toBe('ERROR');
    expect(result.detail).toMatch(
      /ci\/play\.yaml is one for Ansible, and this executor has no ansible-playbook/,
    );
    expect(log).not.toContain('| NEVER');
    await rm(empty, { recursive: true });
  });
});

/** Of a playbook with the roles of these commits of its own repository. */
function withRoles(commit: string, roles: readonly string[], parts: Partial<BuildRole> = {}): BuildRequest {
  const request = buildRequest(commit, { run: ['ci/play.yaml'] });
  const [run] = request.playbooks.run;
  if (run === undefined) throw new Error('no playbook');
  const { project, canonicalName, branch } = run;
  return {
    ...request,
    playbooks: { ...request.playbooks, run: [{ ...run, roles: roles.map((_, index) => index) }] },
    roles: roles.map(each => ({
      ...{ project, canonicalName, branch, name: 'bare', commit: parseCommitId(each) },
      ...parts,
    })),
  };
}

const PLAY = playbook(
  '- name: Test {{ secret }}',
  '  hosts: all',
  '  gather_facts: false',
  '  tasks:',
  '    - name: Say {{ secret }}',
  '      command: echo {{ secret }} {{ zuul.branch }}',
  '    - debug:',
  '        msg: "{{ ansible_connection }} {{ greeting }}"',
  '    - name: May fail',
  '      command: "false"',
  '      ignore_errors: true',
  '    - name: Stays out',
  '      command: "true"',
  '      when: false',
  '- name: Second',
  '  hosts: localhost',
  '  gather_facts: false',
  '  tasks:',
  '    - name: Fails',
  '      command: "false"',
  '    - name: Never',
  '      command: "true"',
);
const DRAWN = [
  'AnsiblePlay Test {{ secret }}: SUCCESS',
  '  AnsibleTask Say {{ secret }}: changed',
  '  AnsibleTask debug: ok',
  '  AnsibleTask May fail: ignored',
  '  AnsibleTask Stays out: skipped',
  'AnsiblePlay Second: FAILURE',
  '  AnsibleTask Fails: failed',
];

describe('a job that names a version of Ansible', () => {
  const logOf = async (bench: Bench, commit: string, jobFacts: { readonly ansibleVersion?: string }) => {
    const { result, log } = await bench.submit(buildRequest(commit, { run: ['ci/play.yaml'] }, { jobFacts }))
      .ended;
    expect(result.result, log).toBe('SUCCESS');
    return /this is Ansible \d+|version\b.*/g[Symbol.match](log);
  };

  test('runs with that one, and one that names none with the one on its PATH', async () => {
    const path = await ansibleRoot('/bin/true', []);
    const program = join(path, 'ansible-playbook');
    // Its second argument is the inventory.
    const variables = '"$(dirname "$2")/group_vars/all/job.yaml"';
    const text = script(`grep -o 'version": !unsafe "[^"]*' ${variables} || echo version nothing`);
    await writeFile(program, text, { mode: 0o755 });
    const root = await ansibleRoot(program, ['8', '9']);
    const ansibles = await installedAnsibles(root, SILENT);
    await using bench = await openBench({ sandbox: 'none', ansibles, path: `${path}:${process.env.PATH}` });
    const commit = await bench.commit({ 'ci/play.yaml': playbook('- hosts: all') });
    const seen = (version: string) => [`this is Ansible ${version}`, `version": !unsafe "${version}`];
    expect(await logOf(bench, commit, { ansibleVersion: '9' })).toEqual(seen('9'));
    expect(await logOf(bench, commit, { ansibleVersion: '8' })).toEqual(seen('8'));
    expect(await logOf(bench, commit, {})).toEqual(['version nothing']);
  });

  describeOnAnsible('in a sandbox', () => {
    test('runs with that one, which knows its version', async () => {
      const found = inject('ansible');
      const root = await ansibleRoot(found.kind === 'found' ? found.program : '', ['9']);
      const ansibles = await installedAnsibles(root, SILENT);
      await using bench = await openBench({ sandbox: 'auto', ansibles, readOnlyPaths: [root] });
      const commit = await bench.commit({
        'ci/play.yaml': playbook(
          '- hosts: all',
          '  gather_facts: false',
          '  tasks: [debug: {msg: "version {{ zuul.ansible_version }}"}]',
        ),
      });
      const seen = await logOf(bench, commit, { ansibleVersion: '9' });
      expect(seen).toEqual(['this is Ansible 9', 'version 9"']);
    });
  });
});

describeOnAnsible('a playbook for Ansible', () => {
  for (const mode of ['none', 'auto'] as const) {
    test(`runs on the machine itself and reports its plays and tasks, never what is in them (sandbox = ${mode})`, async () => {
      await using bench = await openBench({ sandbox: mode });
      const commit = await bench.commit({ 'ci/play.yaml': PLAY });
      const vars = { secret: 'hunter2', greeting: 'hello' };
      const { result, log } = await bench.submit(
        buildRequest(commit, { run: ['ci/play.yaml'] }, { jobFacts: { vars } }),
      ).ended;
      expect(result).toMatchObject({
        result: 'FAILURE',
        detail: 'run playbook ci/play.yaml ended with status 2',
      });
      expect(log).toContain('"msg": "local hello"');
      const step = result.execution?.steps.find(({ kind }) => kind === 'Playbook');
      expect(drawn(step?.steps)).toEqual(DRAWN);
      expect(step?.facts).toMatchObject({ exitCode: 2, phase: 'run' });
      expect(step?.steps?.[0]?.steps?.[0]).toMatchObject({
        facts: { module: 'command', host: 'localhost', changed: true },
      });
      expect(JSON.stringify(result)).not.toContain('hunter2');
    });
  }

  describe('in one sandbox', async () => {
    const bench = await openBench({ sandbox: 'auto', labels: ['big', 'small'] });
    afterAll(() => bench[Symbol.asyncDispose]());
    const task = (...lines: readonly string[]) =>
      playbook('- hosts: all', '  gather_facts: false', '  tasks:', ...lines.map(line => `    ${line}`));

    test('that cannot reach a host is tried again, and post-run can see it', async () => {
      const commit = await bench.commit({
        'ci/away.yml': task(
          '- command: "true"',
          '  vars: {ansible_pipelining: false, ansible_remote_tmp: "{{ temporary | default(\'/tmp/job\') }}"}',
        ),
        'ci/logs.yaml': playbook(
          '- hosts: all:!zuul_unreachable',
          '  gather_facts: false',
          '  tasks: [debug: {msg: "collects from {{ inventory_hostname }}"}]',
          '- hosts: zuul_unreachable',
          '  gather_facts: false',
          '  tasks:',
          '    - debug: {msg: "{{ inventory_hostname }} is away, success {{ zuul_success }}, {{ zuul_execution_phase }}"}',
          '    - debug: {msg: tried again}',
          '      when: zuul_will_retry | bool',
        ),
        'ci/post.sh': script('echo success=$ZUUL_SUCCESS retry=$ZUUL_WILL_RETRY'),
      });
      const nodes = ['near', 'far'].map(name => ({ name, label: 'big' }));
      const { result, events, log } = await bench.submit(
        buildRequest(
          commit,
          { run: ['ci/away.yml'], postRun: ['ci/logs.yaml', 'ci/post.sh'] },
          { jobFacts: { nodes, hostVars: { far: { temporary: '/proc/nowhere' } } } },
        ),
      ).ended;
      expect(result).toMatchObject({
        result: 'RETRY',
        detail: 'run playbook ci/away.yml could not reach a host',
      });
      expect(log).toContain('| success=false retry=true');
      expect(log).toContain('collects from near');
      expect(log).not.toContain('collects from far');
      expect(log).toContain('"msg": "far is away, success False, post"');
      expect(log).toContain('tried again');
      expect(events.map(({ kind }) => kind)).toEqual(['build-started']);
    });

    test('that cannot be read fails, although Ansible ends with the same status', async () => {
      const commit = await bench.commit({ 'ci/play.yaml': 'no list of plays\n' });
      const { result } = await bench.submit(buildRequest(commit, { run: ['ci/play.yaml'] })).ended;
      expect(result).toMatchObject({
        result: 'FAILURE',
        detail: 'run playbook ci/play.yaml ended with status 4',
      });
    });

    test('takes variables for data, no configuration from the checkout, and roles from its project', async () => {
      const commit = await bench.commit({
        'ansible.cfg': '[defaults]\nforks = nonsense\n',
        'roles/greet/tasks/main.yaml': '- debug: {var: greeting}\n',
        'ci/deep/play.yaml': playbook(
          '- hosts: all',
          '  gather_facts: false',
          '  roles: [greet]',
          '  tasks:',
          '    - copy: {content: kept, dest: "{{ zuul.executor.log_root }}/note"}',
        ),
        'ci/see.sh': script('cat "$ZUUL_LOG_DIR/note"; ls -A "$ZUUL_WORK_DIR"'),
      });
      const vars = { greeting: '{{ lookup("pipe", "echo RUN") }}' };
      const build = buildRequest(commit, { run: ['ci/deep/play.yaml', 'ci/see.sh'] }, { jobFacts: { vars } });
      const { result, log } = await bench.submit(build).ended;
      expect(result.result).toBe('SUCCESS');
      expect(log).toContain('{{ lookup(\\"pipe\\", \\"echo RUN\\") }}');
      expect(log).toContain('| kept');
      expect(log).not.toContain('.gatehouse-steps');
    });

    test('finds roles of other projects, at their own commits, and in their order', async () => {
      const says = (text: string) => `- debug: {msg: ${text}}\n`;
      const library = await bench.commit({
        'roles/greet/tasks/main.yaml': says('of the library'),
        'roles/second/tasks/main.yaml': says('second of the library'),
      });
      const bare = await bench.commit({ 'tasks/main.yaml': says('one role') });
      const commit = await bench.commit({
        'roles/greet/tasks/main.yaml': says('of the project'),
        'ci/play.yaml': playbook('- hosts: all', '  gather_facts: false', '  roles: [greet, second, bare]'),
      });
      const { result, log } = await bench.submit(withRoles(commit, [library, bare, commit])).ended;
      expect(log).toContain('RESULT: SUCCESS');
      expect(result.result).toBe('SUCCESS');
      for (const text of ['of the library', 'second of the library', 'one role'])
        expect(log).toContain(`"msg": "${text}"`);
      expect(log).not.toContain('of the project');
    });

    test('takes a link out of the repository for no roles, which is an error where they are listed', async () => {
      const { repository } = bench;
      const link = async (to: string) =>
        (await repository.raw(['hash-object', '-w', '--stdin'], to)).toString().trim();
      const entries = `120000 blob ${await link('/etc')}\troles\n120000 blob ${await link('..')}\ttasks\n`;
      const tree = (await repository.raw(['mktree'], entries)).toString().trim();
      const links = (await repository.git('commit-tree', tree, '-m', 'links')).trim();
      const commit = await bench.commit({ 'ci/play.yaml': task('- debug: {msg: ran}') });
      const { result } = await bench.submit(withRoles(commit, [links])).ended;
      expect(result).toMatchObject({ result: 'ERROR' });
      expect(result.detail).toMatch(
        /listed in roles and has neither roles\/ nor tasks\/ at commit [0-9a-f]{40} \(branch main\)/,
      );
      const implicit = withRoles(commit, [links], { implicit: true });
      expect((await bench.submit(implicit).ended).result).toMatchObject({ result: 'SUCCESS' });
    });

    test('obeys no variable of the job that steers Ansible, and what the play itself says before any other', async () => {
      const commit = await bench.commit({
        'ci/play.yaml': playbook(
          '- hosts: all',
          '  gather_facts: false',
          '  vars: {level: of the play}',
          '  tasks:',
          '    - ping:',
          '    - debug: {msg: "{{ inventory_hostname }} {{ level }} {{ other }}"}',
        ),
      });
      const vars = {
        ...{
          ansible_python_interpreter: '/bin/false',
          ansible_connection: 'ssh',
          inventory_hostname: 'away',
        },
        ...{ level: 'of the job', other: 'and the job' },
      };
      const build = buildRequest(commit, { run: ['ci/play.yaml'] }, { jobFacts: { vars } });
      const { result, log } = await bench.submit(build).ended;
      expect(result.result).toBe('SUCCESS');
      expect(log).toContain('"msg": "localhost of the play and the job"');
    });

    test('runs on each of its nodes, which have their own variables, those of their groups, and extra-vars above all', async () => {
      const commit = await bench.commit({
        'ci/play.yaml': playbook(
          '- hosts: web',
          '  gather_facts: false',
          '  tasks:',
          '    - debug: {msg: "{{ inventory_hostname }} {{ a }} {{ b }} {{ c }} {{ d }} {{ e }} {{ nodepool.label }} {{ group_names | join(\'+\') }}"}',
          '- hosts: all:!web',
          '  gather_facts: false',
          '  tasks:',
          '    - command: echo on {{ inventory_hostname }} {{ ansible_connection }} {{ a }}',
          '- hosts: localhost',
          '  gather_facts: false',
          '  tasks:',
          '    - debug: {msg: "here {{ a }} {{ b }} {{ e }}"}',
        ),
      });
      const jobFacts = {
        nodes: [
          { name: 'controller', label: 'big' },
          { name: 'web1', label: 'small', aliases: ['web2'] },
        ],
        groups: [
          { name: 'web', nodes: ['web1', 'web2'] },
          { name: 'tail', nodes: ['web2'] },
        ],
        vars: { a: 'job', b: 'job', c: 'job', d: 'job', e: 'job' },
        groupVars: { all: { b: 'all' }, web: { c: 'web', d: 'web' }, tail: { c: 'tail' } },
        hostVars: { web2: { d: '{{ a }}', e: 'host' }, nowhere: { a: 1 } },
        extraVars: { e: 'extra' },
      };
      const build = buildRequest(commit, { run: ['ci/play.yaml'] }, { jobFacts });
      const { result, log } = await bench.submit(build).ended;
      expect(result.result, log).toBe('SUCCESS');
      expect(log).toContain('"msg": "web1 job all web web extra small web"');
      expect(log).toContain('"msg": "web2 job all web {{ a }} extra small tail+web"');
      expect(log).toContain('"msg": "here job all extra"');
      expect(log).toContain('nodes: controller (big), web1 (small), web2 (small); each is this executor');
      const hosts = result.execution?.steps
        .flatMap(step => step.steps ?? [])
        .flatMap(play => play.steps ?? [])
        .map(({ subject, facts }) => `${subject} ${facts?.host}`);
      expect(hosts).toContain('command controller');
    });

    test('does not begin where a node has a name that no inventory can hold', async () => {
      const commit = await bench.commit({ 'ci/play.yaml': PLAY });
      const jobFacts = { nodes: [{ name: '../../etc', label: 'big' }] };
      const { result } = await bench.submit(buildRequest(commit, { run: ['ci/play.yaml'] }, { jobFacts }))
        .ended;
      expect(result).toMatchObject({
        result: 'ERROR',
        detail: 'node "../../etc" cannot be a host of Ansible\'s; give it another name',
      });
    });

    test('that is cancelled says at which task it was', async () => {
      const commit = await bench.commit({
        'ci/slow.yaml': task(
          '- name: Begin',
          '  debug: {msg: begun}',
          '- name: Take long',
          '  command: sleep 600',
        ),
      });
      const build = bench.submit(buildRequest(commit, { run: ['ci/slow.yaml'] }));
      await build.logHolds('TASK [Take long]');
      build.cancel();
      const { result } = await build.ended;
      expect(drawn(result.execution?.steps.find(({ kind }) => kind === 'Playbook')?.steps)).toEqual([
        'AnsiblePlay all: ABORTED',
        '  AnsibleTask Begin: ok',
        '  AnsibleTask Take long: ABORTED',
      ]);
    });
  });
});

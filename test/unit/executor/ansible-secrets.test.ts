import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { keptFileOf, readKeptFiles } from '../../../src/executor/log-store/kept-files.ts';
import { describeOnAnsible } from '../../setup/ansible.ts';
import { buildRequest, CANONICAL, openBench } from './fixture.ts';
import { secretKeys, withSecret } from './secret-request.ts';

describeOnAnsible('an Ansible playbook with a secret', () => {
  test('has it as a variable that wins over the job and is data; another playbook has none', async () => {
    await using bench = await openBench({ sandbox: 'auto' }, { secretKeys });
    const task = (name: string, text: string) => `    - name: ${name}\n      debug: {msg: "${text}"}\n`;
    const yaml = (...tasks: readonly string[]) =>
      `- hosts: all\n  gather_facts: false\n  tasks:\n${tasks.join('')}`;
    const commit = await bench.commit({
      'ci/with.yaml': yaml(
        task('Show', 'user {{ deploy.user }} length {{ deploy.token | length }}'),
        task('Leak', 'token {{ deploy.token }}'),
      ),
      'ci/without.yaml': yaml(task('Look', "{{ deploy is mapping | ternary('mapping', deploy) }}")),
    });
    const request = buildRequest(
      commit,
      { run: ['ci/with.yaml', 'ci/without.yaml'] },
      {
        jobFacts: { vars: { deploy: 'of the job' } },
      },
    );
    const { result, log } = await bench.submit(withSecret(request, 0)).ended;
    expect(result.result, log).toBe('SUCCESS');
    expect(log).toContain('user robot length 13');
    expect(log).toContain('token ***');
    expect(log).toContain('of the job');
    expect(log).not.toContain('hunter2');
    const output = await jobOutput(path.join(bench.folder, 'logs'), request.uuid);
    expect(output).toContain('"msg": "token ***"');
    expect(output).not.toContain('hunter2');
    expect(JSON.parse(output)).toMatchObject([
      { playbook: `${CANONICAL}/ci/with.yaml`, phase: 'run', index: '0', trusted: false, branch: 'main' },
      {
        playbook: `${CANONICAL}/ci/without.yaml`,
        index: '1',
        plays: [{ tasks: [{ task: { name: 'Look' }, hosts: { localhost: { msg: 'of the job' } } }] }],
      },
    ]);
  });

  test('has it also where variables of nodes and extra-vars have its name; those of the installation win over all', async () => {
    const siteVariables = { mirror: 'mirror.{{ nodepool.label }}.example.org' };
    await using bench = await openBench({ sandbox: 'auto', labels: ['one'], siteVariables }, { secretKeys });
    const task = "    - debug: {msg: 'user {{ deploy.user }} {{ mirror }}'}\n";
    const commit = await bench.commit({
      'ci/with.yaml': `- hosts: all\n  gather_facts: false\n  tasks:\n${task}`,
    });
    const request = buildRequest(
      commit,
      { run: ['ci/with.yaml'] },
      {
        jobFacts: {
          nodes: [{ name: 'one', label: 'one' }],
          groups: [{ name: 'web', nodes: ['one'] }],
          groupVars: { web: { deploy: { user: 'group' } } },
          hostVars: { one: { deploy: { user: 'host' } } },
          extraVars: { deploy: { user: 'extra' }, mirror: 'of the job' },
        },
      },
    );
    const { result, log } = await bench.submit(withSecret(request, 0)).ended;
    expect(result.result, log).toBe('SUCCESS');
    expect(log).toContain('user robot mirror.one.example.org');
  });
});

/** `job-output.json`, as it is kept. */
async function jobOutput(logDir: string, build: string): Promise<string> {
  const file = (await readKeptFiles(logDir, build))?.files.find(each => each.path === 'job-output.json');
  if (file === undefined) throw new Error('no job-output.json is kept');
  return gunzipSync(await readFile(keptFileOf(logDir, build, file.sha256))).toString();
}

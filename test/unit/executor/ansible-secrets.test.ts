import { expect, test } from 'vitest';
import { describeOnAnsible } from '../../setup/ansible.ts';
import { buildRequest, openBench } from './fixture.ts';
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
  });
});

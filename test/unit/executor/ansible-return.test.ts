import { expect, test } from 'vitest';
import { describeOnAnsible } from '../../setup/ansible.ts';
import { dataSeal } from './data-seal.ts';
import { buildRequest, openBench } from './fixture.ts';

describeOnAnsible('an Ansible playbook with zuul_return', () => {
  const task = (body: string) =>
    `- hosts: all\n  gather_facts: false\n  tasks:\n    - zuul_return:\n        ${body}\n`;

  test('returns data, artifacts and secret data as with Zuul', async () => {
    await using bench = await openBench({ sandbox: 'auto' }, { dataSeal });
    const commit = await bench.commit({
      'ci/one.yaml':
        task(`data: {zuul: {artifacts: [{name: docs, url: docs/, metadata: {type: html}}]}, version: "{{ 1 + 1 }}"}
        secret_data: {password: hunter2-hunter2}`),
      'ci/two.yaml': task('data: {zuul: {log_url: "https://logs.example.org/7/"}}'),
    });
    const request = buildRequest(commit, { run: ['ci/one.yaml', 'ci/two.yaml'] });
    const { result, log } = await bench.submit(request).ended;
    expect(result.result, log).toBe('SUCCESS');
    const { sealed = '', ...returned } = result.returned ?? {};
    expect(returned).toEqual({
      logUrl: 'https://logs.example.org/7/',
      artifacts: [{ name: 'docs', url: 'https://logs.example.org/7/docs/', metadata: { type: 'html' } }],
      data: { version: expect.anything() },
    });
    expect(String(returned.data?.version)).toBe('2');
    expect(dataSeal.openData(request.uuid, sealed)).toBe('{"password":"hunter2-hunter2"}');
    expect(log).not.toContain('hunter2');
  });

  test('fails where an artifact has no address', async () => {
    await using bench = await openBench({ sandbox: 'auto' }, { dataSeal });
    const commit = await bench.commit({ 'ci/one.yaml': task('data: {zuul: {artifacts: [{name: docs}]}}') });
    const { result, log } = await bench.submit(buildRequest(commit, { run: ['ci/one.yaml'] })).ended;
    expect(result.result).toBe('FAILURE');
    expect(log).toContain('zuul.artifacts is not a list of name, url and, if any, metadata');
  });
});

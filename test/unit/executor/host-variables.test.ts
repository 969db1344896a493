import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { jobVariables, variablesFile } from '../../../src/executor/job-environment.ts';
import type { JobView } from '../../../src/executor/sandbox/sandbox.ts';
import { readSiteVariables } from '../../../src/executor/site-variables.ts';
import { buildRequest } from './fixture.ts';

const VIEW: JobView = {
  ...{ work: '/build', info: '/info', playbooks: '/playbooks', home: '/home', tmp: '/tmp', path: '/bin' },
  secrets: '/run/secrets.json',
  objects: () => '/objects',
};

test('a script finds the variables of the job, and below each node what holds for that one', () => {
  const jobFacts = {
    vars: { level: 'job', name: 'job' },
    extraVars: { name: 'extra' },
    groupVars: { all: { level: 'all' }, b: { port: 1 }, a: { port: 2 } },
    hostVars: { two: { port: 3 } },
    nodes: [
      { name: 'one', label: 'small' },
      { name: 'two', label: 'big', aliases: ['three'] },
    ],
    groups: [
      { name: 'b', nodes: ['one', 'three'] },
      { name: 'a', nodes: ['one'] },
    ],
  };
  const request = buildRequest('a'.repeat(40), { run: ['x.sh'] }, { jobFacts });
  const { zuul: _, ...rest } = JSON.parse(variablesFile(jobVariables(request, VIEW, 'ci1')));
  expect(rest).toEqual({
    vars: { level: 'all', name: 'extra' },
    nodes: {
      one: { label: 'small', groups: ['a', 'b'], vars: { level: 'all', name: 'extra', port: 1 } },
      two: { label: 'big', groups: [], vars: { level: 'all', name: 'extra', port: 3 } },
      three: { label: 'big', groups: ['b'], vars: { level: 'all', name: 'extra', port: 1 } },
    },
  });
});

test('a script of a job without nodes finds none', () => {
  const request = buildRequest('a'.repeat(40), { run: ['x.sh'] });
  expect(JSON.parse(variablesFile(jobVariables(request, VIEW, 'ci1')))).toMatchObject({
    vars: { greeting: 'hello' },
    nodes: {},
  });
});

test('variables of the installation win over those of the job, its groups and its nodes', () => {
  const nodes = [{ name: 'one', label: 'small' }];
  const jobFacts = { nodes, vars: { mirror: 'job', own: 1 }, hostVars: { one: { mirror: 'host', port: 1 } } };
  const request = buildRequest('a'.repeat(40), { run: ['x.sh'] }, { jobFacts });
  const variables = jobVariables(request, VIEW, 'ci1', { mirror: 'site' });
  expect(JSON.parse(variablesFile(variables))).toMatchObject({
    vars: { mirror: 'site', own: 1 },
    nodes: { one: { vars: { port: 1 } } },
  });
  expect(variables.hosts.get('one')?.vars).toEqual({ port: 1 });
});

test.each([
  ['mirror: "{{ nodepool.label }}"\n', { mirror: '{{ nodepool.label }}' }],
  ['', {}],
  ['- a\n', /^\[executor\] variables: .* is not a mapping$/],
  ['ansible_connection: local\n', /sets ansible_connection, which means something to Ansible$/],
  ['zuul: {}\n', /sets zuul, which is set by the service$/],
])('a file of them (%j) is read at the start, or says what is wrong', async (text, expected) => {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-site-'));
  const file = join(folder, 'site.yaml');
  await writeFile(file, text);
  const read = readSiteVariables(file);
  if (expected instanceof RegExp) await expect(read).rejects.toThrow(expected);
  else expect(await read).toEqual(expected);
  await expect(readSiteVariables(join(folder, 'none'))).rejects.toThrow(/^\[executor\] variables: ENOENT/);
  await rm(folder, { recursive: true });
});

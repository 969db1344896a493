import { expect, test } from 'vitest';
import { jobVariables, variablesFile } from '../../../src/executor/job-environment.ts';
import type { JobView } from '../../../src/executor/sandbox/sandbox.ts';
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

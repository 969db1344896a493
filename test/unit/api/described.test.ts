/** Jobs as they are configured, in the form of Zuul's API. */
import { Value } from 'typebox/value';
import { expect, test } from 'vitest';
import { jobDocument, jobSchema, jobsDocument, jobsSchema } from '../../../src/api/described.ts';
import { describeLayout } from '../../../src/layout/describe-layout.ts';
import { layoutOf } from '../layout/fixture.ts';

const DEFINED = `
- secret: {name: deploy, data: {user: robot, password: visible-only-here}}
- semaphore: {name: one}
- nodeset: {name: small, nodes: [{name: [web, www], label: linux}], groups: [{name: front, nodes: [web]}]}
- nodeset: {name: either, alternatives: [small, {nodes: [{name: a, label: arm}]}]}
`;

const layout = layoutOf({
  app: `
- job:
    name: unit
    description: |
      Tests of units.
      More of it.
    branches: [master, stable/.*]
    tags: [fast]
    run: ci/unit.yaml
`,
  lib: '- job: {name: lint, parent: tests, tags: [style]}\n',
});

function jobIn(config: string) {
  const made = layoutOf({
    config: `${DEFINED}${config}`,
  });
  expect(made.errors.filter(({ severity }) => severity === 'error')).toEqual([]);
  const description = describeLayout(made, { kind: 'job', name: 'whole' });
  if (description.kind !== 'job') throw new Error(description.kind);
  return jobDocument(description.variants);
}

test('a job shows every attribute under the name that Zuul gives it, and no value of a secret', () => {
  const document = jobIn(`
- job:
    name: whole
    pre-run: ci/pre.yaml
    run: {name: ci/run.yaml, semaphores: one}
    post-run: {name: ci/post.yaml, cleanup: true}
    cleanup-run: ci/last.yaml
    secrets: [{name: target, secret: deploy}]
    semaphores: [{name: one-more, resources-first: true}]
    roles: [{zuul: acme/lib, name: library}]
    required-projects: [acme/lib, {name: acme/app, override-checkout: stable}]
    extra-vars: {a: 1}
    host-vars: {web: {b: 2}}
    group-vars: {front: {c: 3}}
    include-vars: [vars.yaml, {name: more.yaml, project: acme/lib, required: false}, {name: own.yaml, zuul-project: true}]
    failure-output: [FATAL]
    match-on-config-updates: false
    deduplicate: false
    ansible-split-streams: true
    workspace-scheme: flat
    workspace-checkout: auto
    nodeset: either
`);
  expect(Value.Errors(jobSchema, document)).toEqual([]);
  expect(JSON.stringify(document)).not.toContain('visible-only-here');
  const source = { project: 'acme/config', branch: 'master', path: 'zuul.yaml' };
  const common = {
    source_context: source,
    semaphores: [],
    secrets: [{ name: 'deploy', alias: 'target' }],
    cleanup: false,
  };
  const small = {
    name: 'small',
    nodes: [{ name: ['web', 'www'], label: 'linux' }],
    groups: [{ name: 'front', nodes: ['web'] }],
  };
  expect(document[0]).toMatchObject({
    pre_run: [{ path: 'ci/pre.yaml', ...common }],
    run: [{ path: 'ci/run.yaml', ...common, semaphores: [{ name: 'one' }] }],
    post_run: [{ path: 'ci/post.yaml', ...common, cleanup: true }],
    cleanup_run: [{ path: 'ci/last.yaml', ...common }],
    semaphores: [{ name: 'one-more', resources_first: true }],
    roles: [
      {
        target_name: 'library',
        type: 'zuul',
        project_canonical_name: 'git.example.org/acme/lib',
        implicit: false,
      },
    ],
    required_projects: [
      { project_name: 'acme/lib', override_checkout: null },
      { project_name: 'acme/app', override_checkout: 'stable' },
    ],
    extra_variables: { a: 1 },
    host_variables: { web: { b: 2 } },
    group_variables: { front: { c: 3 } },
    include_vars: [
      { name: 'vars.yaml', project_canonical_name: 'git.example.org/acme/config', required: true },
      { name: 'more.yaml', project_canonical_name: 'git.example.org/acme/lib', required: false },
      { name: 'own.yaml', project_canonical_name: null, required: true },
    ],
    failure_output: ['FATAL'],
    match_on_config_updates: false,
    deduplicate: false,
    ansible_version: null,
    workspace_scheme: 'flat',
    workspace_checkout: 'auto',
    nodeset: {
      ...{ name: 'either', nodes: [], groups: [] },
      alternatives: [small, { name: '', nodes: [{ name: ['a'], label: 'arm' }], groups: [] }],
    },
  });
});

test('the list of jobs has the first line of their description, their tags, and where their definitions count', () => {
  const found = describeLayout(layout, { kind: 'jobs' });
  if (found.kind !== 'jobs') throw new Error(found.kind);
  const document = jobsDocument(found.jobs);
  expect(Value.Errors(jobsSchema, document)).toEqual([]);
  expect(document).toEqual([
    { name: 'base', variants: [] },
    { name: 'lint', tags: ['style'], variants: [{ parent: 'tests' }] },
    { name: 'tests', variants: [{ parent: 'base' }] },
    {
      name: 'unit',
      description: 'Tests of units.',
      tags: ['fast'],
      variants: [{ parent: 'base', branches: ['master', 'stable/.*'] }],
    },
  ]);
});

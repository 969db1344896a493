import { expect, test } from 'vitest';
import { projectUses } from '../../../src/layout/project-uses.ts';
import { APP, LIB, layoutOf } from './fixture.ts';

const TEMPLATE = `
- project-template:
    name: gated
    gate: {jobs: [tests]}
- project:
    name: acme/lib
    merge-mode: rebase
    default-branch: trunk
    templates: [gated]
`;

test('a project takes part in the pipelines of its stanzas and their templates, with what those say of its connection', () => {
  const layout = layoutOf({
    app: '- project: {check: {jobs: [tests]}, gate: {jobs: [tests]}}',
    config: TEMPLATE,
  });
  expect(layout.errors).toEqual([]);
  const gate = {
    ...{ tenant: 'acme', pipeline: 'gate', triggers: [{ event: 'approved' }], requirements: [] },
    ...{ reporters: [{ merge: true }, {}, {}, {}], success: [{ merge: true }] },
  };
  const check = {
    ...{ tenant: 'acme', pipeline: 'check', triggers: [{ event: 'proposed' }], requirements: [] },
    ...{ reporters: [{}], success: [{}] },
  };
  expect(projectUses([layout])).toEqual(
    new Map([
      [
        'local',
        [
          {
            project: APP,
            defaultBranches: ['master'],
            pipelines: [check, gate].map(each => ({ ...each, mergeMode: undefined })),
          },
          { project: LIB, defaultBranches: ['trunk'], pipelines: [{ ...gate, mergeMode: 'rebase' }] },
        ],
      ],
    ]),
  );
});

test('the pipelines of all tenants count together, and a project in no pipeline is left out', () => {
  const gated = layoutOf({ app: '- project: {gate: {jobs: [tests]}}' });
  const checked = layoutOf({ app: '- project: {default-branch: trunk, check: {jobs: [tests]}}' });
  const [use, ...others] = projectUses([gated, checked]).get('local') ?? [];
  expect(others).toEqual([]);
  expect(use).toMatchObject({ project: APP, defaultBranches: ['master', 'trunk'] });
  expect(use?.pipelines.map(({ pipeline }) => pipeline)).toEqual(['gate', 'check']);
  expect(projectUses([layoutOf({})])).toEqual(new Map());
});

import { expect, test } from 'vitest';
import type { TenantProject } from '../../../../src/model/layout.ts';
import { exclusionOf, selectsOther } from '../../../../src/scheduler/tenant/branch-exclusion.ts';
import type { TenantConfig } from '../../../../src/scheduler/tenant/tenant-config.ts';
import { APP } from '../../../fake/queue-item.ts';

const project = (options: Partial<TenantProject> = {}): TenantProject => ({
  ...{ project: APP, trusted: false, includeBranches: [], excludeBranches: [] },
  ...options,
});
/** @param read branches whose configuration is known; null: the project was not read. */
const excluded = (
  options: Partial<TenantProject>,
  branch: string,
  read: readonly string[] | null = ['main'],
) =>
  exclusionOf(
    {
      tenant: { name: 'acme', maxJobTimeout: 1, projects: [project(options)] },
      branches: new Map(read === null ? [] : [[APP, new Map(read.map(name => [name, {}]))]]),
    } as unknown as TenantConfig,
    APP,
    branch,
  );

test('events of branches that the tenant file leaves out by name are ignored, of config-projects none', () => {
  expect(excluded({ excludeBranches: ['wip/.*'] }, 'wip/a')).toContain('excluded by its name');
  expect(excluded({ includeBranches: ['main'] }, 'main2')).toContain('excluded by its name');
  expect(excluded({ excludeBranches: ['wip/.*'] }, 'main')).toBeUndefined();
  expect(excluded({ trusted: true, excludeBranches: ['wip/.*'] }, 'wip/a')).toBeUndefined();
});

test('where the host selects branches, only those it listed count, and all before it was asked', () => {
  for (const options of [{ excludeUnprotected: true }, { excludeLocked: true }] as const) {
    expect(excluded(options, 'stable')).toContain('does not protect it or holds it read-only');
    expect(excluded(options, 'main')).toBeUndefined();
    expect(excluded(options, 'stable', null)).toBeUndefined();
  }
  expect(excluded({}, 'stable')).toBeUndefined();
});

test('a project is read again when the tenant file selects other branches or files than before', () => {
  expect(selectsOther(project(), project({ excludeLocked: true }))).toBe(true);
  expect(selectsOther(project({ excludeLocked: true }), project())).toBe(true);
  expect(selectsOther(project({ excludeLocked: true }), project({ excludeLocked: true }))).toBe(false);
  expect(selectsOther(undefined, project({ excludeLocked: true }))).toBe(false);
  expect(selectsOther(project(), project({ extraConfigPaths: ['ci.yaml'] }))).toBe(true);
  expect(selectsOther(project(), project({ shadows: [APP] }))).toBe(false);
});

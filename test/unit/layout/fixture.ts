/** A small tenant to try configuration on: one config-project, two untrusted ones, a driver that takes almost anything. */
import type { DriverConfigLanguage } from '../../../src/driver/driver.ts';
import { buildLayout, type LayoutInput } from '../../../src/layout/build/build-layout.ts';
import type { Layout } from '../../../src/layout/model/layout.ts';
import { parseCache } from '../../../src/layout/stanzas/parse-cache.ts';
import { configErrorText } from '../../../src/model/config-error.ts';
import type { Json } from '../../../src/model/job.ts';
import type { Tenant } from '../../../src/model/layout.ts';
import type { BranchConfig } from '../../../src/model/merge.ts';
import { type ProjectKey, parseCommitId, projectKey } from '../../../src/model/project.ts';

export const CONFIG = projectKey({ connection: 'local', name: 'acme/config' });
export const APP = projectKey({ connection: 'local', name: 'acme/app' });
export const LIB = projectKey({ connection: 'local', name: 'acme/lib' });

/** Refuses only mappings with a key `bad`, and warns of a key `odd`. */
export const LANGUAGE: DriverConfigLanguage = {
  parseTrigger: refuseBad,
  parseRequirement: refuseBad,
  parseReporter: refuseBad,
  matches: () => ({ met: true, text: '' }),
  meets: () => ({ met: true, text: '' }),
  landingMode: () => null,
};

function refuseBad(value: Json): ReturnType<DriverConfigLanguage['parseTrigger']> {
  const bad = typeof value === 'object' && value !== null && 'bad' in value;
  const odd = typeof value === 'object' && value !== null && 'odd' in value;
  const warnings = odd ? [{ path: ['odd'], code: 'no-effect', text: '"odd" has no effect' }] : undefined;
  if (!bad) return { kind: 'ok', value, ...(warnings === undefined ? {} : { warnings }) };
  return {
    kind: 'invalid',
    problems: [{ path: ['bad'], code: 'unknown-key', text: 'unknown key "bad" of trigger' }],
  };
}

export const TENANT: Tenant = {
  name: 'acme',
  projects: [
    { project: CONFIG, trusted: true, includeBranches: [], excludeBranches: [] },
    { project: APP, trusted: false, includeBranches: [], excludeBranches: [] },
    { project: LIB, trusted: false, includeBranches: [], excludeBranches: [] },
  ],
  hosts: { local: 'git.example.org' },
  maxJobTimeout: 10_800,
};

/** Pipelines `check` and `gate`, a base job and a trivial parent. */
export const BASE = `
- pipeline:
    name: check
    manager: independent
    trigger: {local: [{event: proposed}]}
    success: {local: {}}
- pipeline:
    name: gate
    manager: dependent
    trigger: {local: {event: approved}}
    success: {local: {merge: true}}
    failure: {local: {}}
- job:
    name: base
    parent: null
    pre-run: setup.sh
    post-run: collect.sh
- job:
    name: tests
    run: tests.sh
`;

export function branchConfig(
  project: ProjectKey,
  files: { readonly [path: string]: string } | string,
  branch = 'master',
): BranchConfig {
  const texts = typeof files === 'string' ? { 'zuul.yaml': files } : files;
  return {
    project,
    branch,
    commit: parseCommitId('1'.repeat(40)),
    files: Object.entries(texts).map(([path, text]) => ({ path, text })),
  };
}

export function layoutInput(configs: readonly BranchConfig[], tenant: Tenant = TENANT): LayoutInput {
  return { tenant, configs, languages: new Map([['local', LANGUAGE]]), cache: parseCache() };
}

/** @param app,lib configuration of the untrusted projects' master branch; @param config appended to {@link BASE}. */
export function layoutOf({
  app = '',
  lib = '',
  config = '',
}: {
  app?: string;
  lib?: string;
  config?: string;
}): Layout {
  return buildLayout(
    layoutInput([branchConfig(CONFIG, BASE + config), branchConfig(APP, app), branchConfig(LIB, lib)]),
  );
}

export function errorsOf(layout: Layout): readonly string[] {
  return layout.errors.map(configErrorText);
}

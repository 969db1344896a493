import { describe, expect, test } from 'vitest';
import { freezeItemGraph, type ItemChange } from '../../../src/layout/freeze/freeze-item-graph.ts';
import type { Layout } from '../../../src/layout/model/layout.ts';
import type { ProjectKey } from '../../../src/model/project.ts';
import { APP, CONFIG, LIB, layoutOf } from './fixture.ts';

function itemChange(project: ProjectKey, name: string, branch = 'master'): ItemChange {
  return { name, change: { project, branch, files: ['a.txt'] } };
}

const BOTH = [itemChange(APP, '1'), itemChange(LIB, '7')] as const;

/** `<name>: <change> <dependencies>` of each job. */
function jobsOf(
  layout: Layout,
  changes: Parameters<typeof freezeItemGraph>[0]['changes'],
): readonly string[] {
  const outcome = freezeItemGraph({ layout, pipeline: 'gate', changes });
  if (outcome.kind !== 'frozen') return [outcome.kind];
  return outcome.jobs.map(({ name, change = 0, plainName, dependencies }) =>
    [
      `${name}:`,
      change,
      ...(plainName === undefined ? [] : [plainName]),
      ...dependencies.map(each => each.name),
    ].join(' '),
  );
}

describe('the job graph of changes that depend on each other', () => {
  test('has the jobs of each, and a name of its own for each job of one name', () => {
    const layout = layoutOf({
      config: '- job: {name: docs, run: docs.sh}\n',
      app: '- project: {gate: {jobs: [tests, docs]}}\n',
      lib: '- project: {gate: {jobs: [tests, docs: {dependencies: [tests]}]}}\n',
    });
    expect(jobsOf(layout, [...BOTH])).toEqual([
      'tests: 0',
      'docs: 0',
      'tests (acme/lib 7): 1 tests',
      'docs (acme/lib 7): 1 docs tests (acme/lib 7)',
    ]);
  });

  test('runs a job once that would check out the same for both', () => {
    const layout = layoutOf({
      config: '- job: {name: joint, run: joint.sh, required-projects: [acme/app, acme/lib]}\n',
      app: '- project: {gate: {jobs: [joint]}}\n',
      lib: '- project: {gate: {jobs: [joint, tests: {dependencies: [joint]}]}}\n',
    });
    expect(jobsOf(layout, [...BOTH])).toEqual(['joint: 0', 'tests: 1 joint']);
  });

  test('runs a job of a branch once for two changes of it, and apart for two branches', () => {
    const layout = layoutOf({ config: '- project: {name: acme/app, gate: {jobs: [tests]}}\n' });
    expect(jobsOf(layout, [itemChange(APP, '1'), itemChange(APP, '2')])).toEqual(['tests: 0']);
    expect(jobsOf(layout, [itemChange(APP, '1'), itemChange(APP, '2', 'stable')])).toHaveLength(2);
  });

  test('runs a job once, or for each change, as its deduplicate says', () => {
    const jobs = `- job: {name: once, run: a.sh, deduplicate: true}
- job: {name: each, run: a.sh, deduplicate: false}
- job: {name: usual, run: a.sh, deduplicate: auto}
`;
    const listed = (name: string) => `- project: {name: ${name}, gate: {jobs: [once, each, usual, noop]}}\n`;
    const layout = layoutOf({ config: `${jobs}${listed('acme/app')}${listed('acme/lib')}` });
    const apart = ['each (acme/lib 7): 1 each', 'usual (acme/lib 7): 1 usual'];
    expect(jobsOf(layout, [...BOTH])).toEqual(['once: 0', 'each: 0', 'usual: 0', 'noop: 0', ...apart]);
    const together = [itemChange(APP, '1'), itemChange(APP, '2'), itemChange(APP, '3', 'stable')] as const;
    expect(jobsOf(layout, [...together])).toEqual([
      'once: 0',
      'each: 0',
      'usual: 0',
      'noop: 0',
      'each (acme/app 2): 1 each',
      'each (acme/app 3): 2 each',
      'usual (acme/app 3): 2 usual',
    ]);
  });

  test('does not run a job once whose definition differs, or that waits for other jobs', () => {
    const config = '- job: {name: once, run: a.sh, deduplicate: true}\n';
    const app = '- project: {gate: {jobs: [tests, once: {dependencies: [tests]}]}}\n';
    const other = (lib: string) => jobsOf(layoutOf({ config, app, lib }), [...BOTH]).slice(2);
    expect(other('- project: {gate: {jobs: [once]}}\n')).toEqual(['once (acme/lib 7): 1 once']);
    expect(other('- project: {gate: {jobs: [once: {vars: {a: 1}}]}}\n')).toEqual([
      'once (acme/lib 7): 1 once',
    ]);
  });

  test('lets a job that runs once wait for the jobs of each change that it depends on', () => {
    const both = '- project: {gate: {jobs: [tests, once: {dependencies: [tests]}]}}\n';
    const config = '- job: {name: once, run: a.sh, deduplicate: true}\n';
    expect(jobsOf(layoutOf({ config, app: both, lib: both }), [...BOTH])).toEqual([
      'tests: 0',
      'once: 0 tests tests (acme/lib 7)',
      'tests (acme/lib 7): 1 tests',
    ]);
  });

  test('is that of the changes whose projects take part', () => {
    const layout = layoutOf({ lib: '- project: {gate: {jobs: [tests]}}\n' });
    expect(jobsOf(layout, [...BOTH])).toEqual(['tests: 1']);
    expect(jobsOf(layout, [itemChange(CONFIG, '1'), itemChange(APP, '2')])).toEqual(['not-in-pipeline']);
  });

  test('is wrong when that of one is, and shows each error once', () => {
    const layout = layoutOf({
      app: '- project: {gate: {jobs: [tests: {dependencies: [none]}]}}\n',
      lib: '- project: {gate: {jobs: [tests]}}\n',
    });
    const outcome = freezeItemGraph({
      layout,
      pipeline: 'gate',
      changes: [itemChange(APP, '1'), itemChange(APP, '2'), itemChange(LIB, '7')],
    });
    expect(outcome).toMatchObject({ kind: 'misconfigured', errors: [expect.anything()] });
  });
});

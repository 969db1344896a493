/** Reports to the fake GitHub, which judges every request by GitHub's own description. */
import { expect, test } from 'vitest';
import type { FileComment } from '../../src/model/report.ts';
import { openActingStand } from './acting-stand.ts';

const START = { action: 'start', result: '', headline: 'Starting gate jobs.' } as const;

test('every part of a report is taken, found again and not doubled (cases 40, 41)', async () => {
  await using stand = await openActingStand();
  const { github, repository, pull } = stand;
  await github.label(repository, pull, 'gate');
  const begin = { check: 'in_progress', status: 'pending', comment: true };
  const end = {
    check: 'success',
    status: 'success',
    comment: true,
    label: ['landed'],
    unlabel: ['gate'],
    review: 'approve',
  } as const;
  expect(await stand.startProcess().report(begin, START)).toEqual({ kind: 'done' });
  expect(repository.checks).toMatchObject([{ name: 'acme/gate', status: 'in_progress', actions: [{}] }]);
  expect(await stand.startProcess().report(end)).toEqual({ kind: 'done' });
  const writes = () => github.requests.filter(({ method }) => method !== 'GET').length;
  const before = writes();
  expect(await stand.startProcess().report(begin, START)).toEqual({ kind: 'done' });
  const again = stand.startProcess();
  expect(await again.report(end)).toEqual({ kind: 'done' });
  // Tokens of the two processes.
  expect(writes() - before).toBe(2);
  expect(repository.checks).toMatchObject([{ status: 'completed', conclusion: 'success', actions: [] }]);
  expect(repository.statuses.map(({ state }) => state)).toEqual(['pending', 'success']);
  expect(pull.comments).toHaveLength(1);
  expect(pull.now.labels).toEqual(['landed']);
  expect(pull.now.reviews).toMatchObject([{ state: 'APPROVED' }]);
});

test('where an item is changes the texts of its run alone, and opens no run again', async () => {
  await using stand = await openActingStand();
  const { repository } = stand;
  const process = stand.startProcess();
  const check = { check: 'in_progress', comment: false };
  await process.report(check, START);
  const progress = { ahead: 2, position: 3, eta: null, running: ['unit'] };
  expect(await process.progress(check, { ...START, progress })).toMatchObject({ kind: 'done' });
  expect(repository.checks).toMatchObject([
    { status: 'in_progress', actions: [{}], output: { title: '2 ahead; running unit' } },
  ]);
  const [run] = repository.checks;
  await process.report({ check: 'success', comment: false });
  const other = stand.startProcess();
  const earlier = { run: { id: run?.id ?? 0, commit: stand.change.commit } };
  expect(await other.progress(check, { ...START, progress }, earlier)).toMatchObject({ kind: 'done' });
  expect(repository.checks).toMatchObject([{ status: 'completed', conclusion: 'success', actions: [] }]);
});

test('a report full of remarks and text is within GitHub’s limits (cases 43, 44)', async () => {
  await using stand = await openActingStand();
  const { change, github, repository } = stand;
  const remark = (parts: Partial<FileComment>): FileComment => ({
    project: change.project,
    branch: 'main',
    file: 'a.txt',
    line: 1,
    severity: 'warning',
    text: 'unused',
    ...parts,
  });
  const fileComments = [
    ...Array.from({ length: 173 }, (_, line) => remark({ line })),
    remark({ file: 'outside.txt' }),
    remark({ text: 'ü'.repeat(70_000) }),
  ];
  const jobs = Array.from({ length: 3_000 }, (_, at) => ({
    name: `job-${at}`,
    result: 'SUCCESS' as const,
    voting: true,
    url: 'http://gate.example.org/t/acme/build/1',
    startedAt: null,
    endedAt: null,
  }));
  const { report } = stand.startProcess();
  expect(await report({ check: 'failure', comment: true }, { fileComments, jobs })).toEqual({ kind: 'done' });
  const [run] = repository.checks;
  expect(run?.annotations).toHaveLength(174);
  expect(run?.output.summary).toContain('1 of 175 remarks are not shown as annotations');
  expect(github.count('checks/create') + github.count('checks/update')).toBe(4);
});

test('an App without the permission for check runs reports statuses that say so (case 48)', async () => {
  await using stand = await openActingStand();
  const { github, repository } = stand;
  const [installation] = github.world.installations.values();
  if (installation === undefined) return expect.unreachable('the App is installed');
  const { checks: _, ...others } = installation.permissions;
  installation.permissions = others;
  expect(await stand.startProcess().report({ check: 'success', comment: false })).toEqual({ kind: 'done' });
  expect(repository.statuses).toMatchObject([
    { state: 'success', description: 'SUCCESS (the App lacks the permission checks: write)' },
  ]);
});

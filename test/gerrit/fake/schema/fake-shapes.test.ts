/** The fake Gerrit's events and answers have the forms of a real one. */
import { expect, test } from 'vitest';
import { CHANGE_OPTIONS } from '../../../../drivers/gerrit/api/change-info.ts';
import { askGerrit } from '../ask-gerrit.ts';
import { startFakeGerrit } from '../fake-gerrit.ts';
import { queryCommand } from '../ssh/query-command.ts';
import { accountNamed } from '../world.ts';
import { answerViolations, eventViolations, queryRowViolations } from './judge-shapes.ts';

test('events and answers of the fake have no other fields than a real Gerrit sends', async () => {
  await using gerrit = await startFakeGerrit();
  await gerrit.project('acme/app');
  const change = await gerrit.push({ project: 'acme/app', files: { a: 'a\n' } });
  await gerrit.comment(change, 'bob', 'hello');
  await gerrit.vote(change, 'bob', { 'Code-Review': 2 });
  await gerrit.deleteVote(change, 'admin', 'bob', 'Code-Review');
  await gerrit.addReviewer(change, 'alice', 'bob');
  await gerrit.deleteReviewer(change, 'admin', 'bob');
  await gerrit.createBranch('acme/app', 'stable');
  await gerrit.amend(change, { files: { b: 'b\n' } });
  const options = CHANGE_OPTIONS.filter(option => option !== 'SUBMIT_REQUIREMENTS').map(each => `&o=${each}`);
  const differences: string[] = [];
  for (const [method, path] of [
    ['GET', `changes/?q=project:acme/app&n=10${options.join('')}`],
    ['GET', `changes/${change.number}/detail?x${options.join('')}`],
    ['GET', 'projects/acme%2Fapp/branches/'],
    ['GET', 'accounts/self/detail'],
    ['GET', 'changes/99999/detail'],
    ['POST', `changes/${change.number}/abandon`],
    ['POST', `changes/${change.number}/restore`],
  ] as const) {
    const { status, json, text } = await askGerrit(gerrit, 'alice', method, path);
    const found = answerViolations({ method, path, status, body: json ?? text });
    differences.push(...(found ?? [`${method} ${path} has no form`]));
  }
  differences.push(...gerrit.events.flatMap(({ json }) => eventViolations(json)));
  expect(gerrit.events.length).toBeGreaterThan(15);
  expect(differences).toEqual([]);
});

test('rows of queries have no other fields than a real Gerrit shows over SSH', async () => {
  await using gerrit = await startFakeGerrit();
  await gerrit.project('acme/app');
  const base = await gerrit.push({ project: 'acme/app', files: { a: 'a\n' } });
  const change = await gerrit.push({ project: 'acme/app', files: { b: 'b\n' }, on: base });
  await gerrit.vote(change, 'bob', { 'Code-Review': 2, Workflow: 1 });
  const caller = accountNamed(gerrit.world, 'gatehouse');
  const options = ['commit-message', 'comments', 'current-patch-set', 'patch-sets', 'all-approvals'];
  const more = ['files', 'dependencies', 'submit-records', 'all-reviewers'];
  const flags = [...options, ...more].map(each => `--${each}`);
  const { out = '' } = await queryCommand(gerrit.world, caller, ['--format=JSON', ...flags, 'status:open']);
  const rows = out.trim().split('\n').slice(0, -1);
  expect(rows).toHaveLength(2);
  expect(rows.flatMap(row => queryRowViolations(JSON.parse(row)))).toEqual([]);
  expect(queryRowViolations({ project: 'acme/app' })).not.toEqual([]);
});

test('a field that a real Gerrit does not send is a difference', () => {
  expect(
    eventViolations({ type: 'project-created', projectName: 'a', headName: 'b', eventCreatedOn: 1 }),
  ).toEqual([]);
  expect(
    eventViolations({ type: 'project-created', projectName: 'a', headName: 'b', eventCreatedOn: '1', x: 1 }),
  ).not.toEqual([]);
  expect(eventViolations({ type: 'made-up' })).toHaveLength(1);
});

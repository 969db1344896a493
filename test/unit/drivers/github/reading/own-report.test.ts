import { expect, test } from 'vitest';
import type { GithubEventFacts } from '../../../../../drivers/github/language/event-facts.ts';
import { ownReportOf } from '../../../../../drivers/github/reading/own-report.ts';

const us = { login: 'gatehouse[bot]' };
const bob = { login: 'bob', permission: null };
const bot = { login: us.login, permission: null };

test.each<[string, GithubEventFacts, string | undefined]>([
  ['our status', { action: 'status', status: 'a:b:c', ours: 'acme/gate', actor: bot }, 'acme/gate'],
  ['a status of another', { action: 'status', status: 'a:b:c', actor: bob }, undefined],
  ['our check run', { action: 'completed', check: 'a:b:c', ours: 'acme/gate', actor: null }, 'acme/gate'],
  ['a check run of another', { action: 'completed', check: 'a:b:c', actor: null }, undefined],
  [
    "a person's request to run ours again",
    { action: 'rerequested', check: 'a:b:c', ours: 'acme/gate', actor: bob },
    undefined,
  ],
  ['a label of ours', { action: 'labeled', label: 'go', actor: bot }, 'labeled go'],
  ['a label that may be ours', { action: 'unlabeled', label: 'go', actor: null }, 'unlabeled go'],
  ["a person's label", { action: 'labeled', label: 'go', actor: bob }, undefined],
  ['our review', { action: 'submitted', state: 'approved', actor: bot }, 'review approved'],
  ["a person's review", { action: 'submitted', state: 'approved', actor: bob }, undefined],
  ['a new commit', { action: 'changed', actor: null }, undefined],
  ["a person's comment", { action: 'comment', comment: 'recheck', actor: bob }, undefined],
])('%s', (_, facts, report) => {
  expect(ownReportOf(facts, us).ownReport).toBe(report);
});

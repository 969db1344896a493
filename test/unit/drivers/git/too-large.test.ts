/** Commits that are too large to read do not affect the others. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createGate, type Gate } from '../../../conformance/driver/gate.ts';
import { type GitHost, openGitHost } from '../../../conformance/driver/git-host.ts';
import { commitUnfolding } from '../../git/unfolding-pack.ts';

const TOO_LARGE = 'too large to read: more than 150 MB of memory, limit [merger] git_memory_limit';
let host: GitHost;
let gate: Gate;
/** Fetched only when a proposal is read. */
let bomb: string;

beforeEach(async () => {
  host = await openGitHost({}, { memoryBytes: 150_000_000 });
  gate = createGate(host);
  await gate.settle();
  bomb = await commitUnfolding(app().path, await host.tip(host.projects[0]));
});
afterEach(() => host[Symbol.asyncDispose]());

const app = () => host.repository(host.projects[0]);
const push = (ref: string, commit: string) => app().git('update-ref', `refs/heads/${ref}`, commit);
const found = async () => {
  const { events, refusals } = await gate.settle();
  return {
    events: events.map(({ type, change }) => `${type} ${change.ref.replace('refs/heads/for/', '')}`),
    refusals: refusals.map(({ change, text }) => `${change.ref.replace('refs/heads/for/', '')} ${text}`),
  };
};
const fetches = () => host.repositories.counters().fetches;

test('a proposal that is too large is refused with the reason, once, and the others go on in the same look', async () => {
  await host.propose({ topic: 'a' });
  await host.approve('a');
  await push('for/main/huge', bomb);
  await push('gate/main/huge', bomb);
  await host.propose({ topic: 'z' });
  const before = fetches();
  expect(await found()).toEqual({
    events: ['proposed main/a', 'proposed main/z', 'approved main/a'],
    refusals: [`main/huge not taken up: its commit is ${TOO_LARGE}`],
  });
  // All together, a and huge, a, huge, z.
  expect(fetches() - before).toBe(5);
  for (const topic of ['b', 'c', 'd']) {
    await host.propose({ topic });
    expect(await found()).toEqual({ events: [`proposed main/${topic}`], refusals: [] });
  }
  expect(fetches() - before).toBe(8);
  const key = (await host.propose({ topic: 'e' })).key;
  expect(await host.connection.source.fetchChange(key, new AbortController().signal)).toMatchObject({
    status: 'open',
  });
});

test('it is taken up when it is pushed again, and what it replaces leaves', async () => {
  await host.propose({ topic: 'a' });
  const { commit } = await host.propose({ topic: 'b' });
  await found();
  await push('for/main/b', bomb);
  expect(await found()).toEqual({
    events: ['abandoned main/b'],
    refusals: [`main/b not taken up: its commit is ${TOO_LARGE}`],
  });
  await push('for/main/b', commit);
  expect(await found()).toEqual({ events: ['proposed main/b'], refusals: [] });
});

test('what builds on it, and proposals for a branch that is too large, are refused as well', async () => {
  const child = await app().commit({ ref: 'refs/heads/for/main/child', parents: [bomb], files: { a: '1' } });
  await push('for/main/huge', bomb);
  await push('evil', bomb);
  await push('for/evil/child', child);
  await host.propose({ topic: 'a' });
  await push('for/evil/a', await app().tip('refs/heads/for/main/a'));
  const { events, refusals } = await found();
  expect(events).toEqual(['ref-updated refs/heads/evil', 'proposed main/a']);
  expect(refusals.toSorted()).toEqual([
    `evil/a not taken up: the tip of evil is ${TOO_LARGE}`,
    `evil/child not taken up: its commit is ${TOO_LARGE}`,
    `main/child not taken up: its commit is ${TOO_LARGE}`,
    `main/huge not taken up: its commit is ${TOO_LARGE}`,
  ]);
});

test('a tag that is too large is reported as it is', async () => {
  await app().git('tag', '-a', '-m', 'huge', 'huge', bomb);
  await app().git('tag', '-a', '-m', 'small', 'small', 'main');
  const { events } = await gate.settle();
  const commits = events.map(({ change }) => (change.kind === 'ref' ? [change.ref, change.newCommit] : []));
  expect(Object.fromEntries(commits)).toEqual({
    'refs/tags/huge': await app().git('rev-parse', 'refs/tags/huge'),
    'refs/tags/small': await host.tip(host.projects[0]),
  });
});

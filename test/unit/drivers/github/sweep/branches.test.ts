/** Branches in a sweep: whole lists are compared, those of large repositories by turns. */
import { describe, expect, test } from 'vitest';
import { openRefTips } from '../../../../../drivers/github/reading/ref-tips.ts';
import {
  type BranchDifference,
  type Branches,
  branchDifferences,
  createBranchSweep,
} from '../../../../../drivers/github/sweep/branches.ts';
import type { ListedRepository } from '../../../../../drivers/github/sweep/listing-query.ts';
import type { Json } from '../../../../../src/model/job.ts';

const branches = (tips: { readonly [branch: string]: string }): Branches => new Map(Object.entries(tips));
const many = (count: number, tip = 'a') =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`b${String(at).padStart(4, '0')}`, tip]));

/** A host whose repositories have the branches given, of which a listing of the API holds the first hundred. */
function openWorld() {
  const memory = new Map<string, Json>();
  const found: string[] = [];
  const listedByGit: string[] = [];
  let serves = true;
  const hosted = new Map<string, Branches>();
  const sweep = createBranchSweep(async repository => {
    listedByGit.push(repository);
    return serves ? hosted.get(repository) : undefined;
  });
  const watch = {
    memory: { get: async (key: string) => memory.get(key) },
    signal: new AbortController().signal,
    found: async (repository: string, { branch, before, after }: BranchDifference) =>
      void found.push(`${repository} ${branch}: ${before} → ${after}`),
  };
  return {
    listedByGit,
    serve: (does: boolean) => {
      serves = does;
    },
    async remember(repository: string, branch: string, object: string | null) {
      const tips = openRefTips(watch.memory, repository);
      await tips.set(
        `refs/heads/${branch}`,
        object === null ? { object, commit: null } : { object, commit: object },
      );
      for (const { key, value } of tips.changes()) memory.set(key, value);
    },
    /** One pass. @returns what it found. */
    async pass(now: { readonly [repository: string]: Branches }): Promise<readonly string[]> {
      found.length = 0;
      for (const [repository, all] of Object.entries(now)) {
        hosted.set(repository, all);
        const nodes = [...all]
          .toSorted()
          .slice(0, 100)
          .map(([name, oid]) => ({ name, target: { oid } }));
        const listed: ListedRepository = {
          nameWithOwner: repository,
          pullRequests: { nodes: [] },
          refs: { nodes },
        };
        await sweep.compare(repository, listed, watch);
      }
      await sweep.listOthers(watch);
      return [...found];
    },
  };
}

describe('branches that no event has reported', () => {
  test('are found once when they moved, came or went', async () => {
    const { pass } = openWorld();
    expect(await pass({ 'acme/app': branches({ main: 'a', old: 'b' }) })).toEqual([]);
    const now = branches({ main: 'c', topic: 'd' });
    expect(await pass({ 'acme/app': now })).toEqual([
      'acme/app main: a → c',
      'acme/app topic: null → d',
      'acme/app old: b → null',
    ]);
    expect(await pass({ 'acme/app': now })).toEqual([]);
  });

  test('are found behind the hundredth, and no branch counts as new that only moved up in the list', async () => {
    const { pass, listedByGit } = openWorld();
    const before = many(150);
    await pass({ 'acme/app': branches(before) });
    const { b0000: _, b0149: __, ...rest } = before;
    const now = branches({ ...rest, b0120: 'c', z: 'd' });
    expect(await pass({ 'acme/app': now })).toEqual([
      'acme/app b0120: a → c',
      'acme/app z: null → d',
      'acme/app b0000: a → null',
      'acme/app b0149: a → null',
    ]);
    expect(await pass({ 'acme/app': now })).toEqual([]);
    expect(listedByGit).toEqual(['acme/app', 'acme/app', 'acme/app']);
  });

  test('are found where a repository grows beyond a hundred, or shrinks again', async () => {
    const { pass } = openWorld();
    await pass({ 'acme/app': branches(many(99)) });
    expect(await pass({ 'acme/app': branches(many(102)) })).toHaveLength(3);
    expect(await pass({ 'acme/app': branches(many(99)) })).toHaveLength(3);
  });

  test('are not those of queues, and not those that the memory holds', async () => {
    const { pass, remember } = openWorld();
    await pass({ 'acme/app': branches({ main: 'a', stable: 'a', old: 'a' }) });
    await remember('acme/app', 'main', 'b');
    await remember('acme/app', 'stable', 'x');
    await remember('acme/app', 'old', null);
    const queues = { 'gatehouse/landing/1': 'q', 'gh-readonly-queue/main/pr-1-a': 'q' };
    expect(await pass({ 'acme/app': branches({ ...queues, main: 'b', stable: 'b' }) })).toEqual([
      'acme/app stable: a → b',
    ]);
  });
});

test('large repositories are listed by turns, five in a pass, and keep their turn while the host is away', async () => {
  const { pass, listedByGit, serve } = openWorld();
  const names = Array.from({ length: 7 }, (_, at) => `acme/r${at}`);
  const all = Object.fromEntries(names.map(name => [name, branches(many(100))]));
  await pass(all);
  await pass(all);
  expect(listedByGit).toEqual([...names, ...names.slice(0, 3)]);
  serve(false);
  await pass(all);
  serve(true);
  await pass(all);
  expect(listedByGit.slice(10)).toEqual(['acme/r3', 'acme/r4', 'acme/r0', 'acme/r1', 'acme/r2', 'acme/r5']);
});

test('a list that was not served is no list of nothing', async () => {
  const { pass, serve } = openWorld();
  await pass({ 'acme/app': branches(many(101)) });
  serve(false);
  expect(await pass({ 'acme/app': branches(many(101)) })).toEqual([]);
  serve(true);
  expect(await pass({ 'acme/app': branches(many(102)) })).toEqual(['acme/app b0101: null → a']);
});

test('of very many branches that moved each pass reports a hundred, until all are reported', async () => {
  const { pass, remember } = openWorld();
  await pass({ 'acme/app': branches(many(250)) });
  const reported: string[] = [];
  for (const expected of [100, 100, 50, 0]) {
    const found = await pass({ 'acme/app': branches(many(250, 'b')) });
    expect(found).toHaveLength(expected);
    for (const each of found) await remember('acme/app', /b\d+/.exec(each)?.[0] ?? '', 'b');
    reported.push(...found);
  }
  expect(new Set(reported).size).toBe(250);
});

test('a repository with more branches than can be kept is not compared', async () => {
  const { pass } = openWorld();
  await pass({ 'acme/app': branches(many(20_001)) });
  expect(await pass({ 'acme/app': branches(many(20_001, 'b')) })).toEqual([]);
});

test('two lists differ in what moved, came and went', () => {
  expect(branchDifferences(branches({ main: 'b', topic: 'c' }), branches({ main: 'a', old: 'd' }))).toEqual([
    { branch: 'main', before: 'a', after: 'b' },
    { branch: 'topic', before: null, after: 'c' },
    { branch: 'old', before: 'd', after: null },
  ]);
});

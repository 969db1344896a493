import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createAncestry, type IsAncestor } from '../../../src/git/objects/ancestry.ts';
import { type ObjectId, parseObjectId } from '../../../src/git/objects/object-id.ts';
import { createObjectReader, type ObjectReader } from '../../../src/git/objects/object-reader.ts';
import { createObjectWriter, type ObjectWriter } from '../../../src/git/objects/object-writer.ts';
import { createGit, type Git } from '../../../src/git/process/git.ts';
import { startAside } from '../../../src/git/starter/start-aside.ts';
import { IDENTITY } from './open-repository.ts';

const EMPTY_TREE = parseObjectId('4b825dc642cb6eb9a060e54bf8d69288fbee4904');

let root: string;
let git: Git;
let reader: ObjectReader;
let writer: ObjectWriter;
let isAncestor: IsAncestor;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'gatehouse-ancestry-'));
  git = createGit({ identity: IDENTITY, start: startAside });
  await git.run(['init', '--quiet', '--bare', '--template=', root]);
  await git.run(['hash-object', '-w', '-t', 'tree', '--stdin'], { gitDir: root });
  reader = createObjectReader(git, root);
  writer = createObjectWriter(root);
  isAncestor = createAncestry(git, root, reader);
});
afterEach(async () => {
  await reader.close();
  await rm(root, { recursive: true });
});

let made = 0;
function commit(parents: readonly ObjectId[], date = 1_790_000_000): Promise<ObjectId> {
  made += 1;
  return writer.writeCommit({
    tree: EMPTY_TREE,
    parents,
    identity: IDENTITY,
    date,
    message: `${made}`,
  });
}

/** A line of commits, oldest first. */
async function line(length: number, date?: number): Promise<readonly ObjectId[]> {
  const commits: ObjectId[] = [];
  while (commits.length < length) commits.push(await commit(commits.slice(-1), date));
  return commits;
}

test('what is near is found without a process of its own', async () => {
  const commits = await line(40);
  const [first, last] = [commits[0] ?? EMPTY_TREE, commits.at(-1) ?? EMPTY_TREE];
  await reader.commit(first);
  const spawns = git.spawns();
  expect(await isAncestor(first, last)).toBe(true);
  expect(await isAncestor(last, last)).toBe(true);
  expect(git.spawns()).toBe(spawns);
});

test('what landed in one go with fifty others is found without a process', async () => {
  let [tip = EMPTY_TREE] = await line(1);
  const before = tip;
  const changes: ObjectId[] = [];
  for (let landed = 0; landed < 50; landed++) {
    const change = await commit([await commit([before])]);
    changes.push(change);
    tip = await commit([tip, change]);
  }
  const spawns = git.spawns();
  expect(await isAncestor(before, tip)).toBe(true);
  for (const change of changes) expect(await isAncestor(change, tip)).toBe(true);
  // The coprocess that reads.
  expect(git.spawns()).toBeLessThanOrEqual(spawns + 1);
});

test('nothing is read below a commit that is older than the one that is looked for', async () => {
  const commits = await line(100, 1_790_000_000);
  const newer = await commit([], 1_790_000_001);
  let read = 0;
  const counting: Pick<ObjectReader, 'commit'> = {
    commit: id => {
      read += 1;
      return reader.commit(id);
    },
  };
  expect(await createAncestry(git, root, counting)(newer, commits.at(-1) ?? newer)).toBe(false);
  expect(read).toBe(2);
});

test('what is far away is asked of git', async () => {
  const commits = await line(400);
  const [first, last] = [commits[0] ?? EMPTY_TREE, commits.at(-1) ?? EMPTY_TREE];
  expect(await isAncestor(first, last)).toBe(true);
  expect(await isAncestor(last, first)).toBe(false);
});

test('a commit that is not here is reachable from none, and none from it', async () => {
  const [here] = await line(1);
  const absent = parseObjectId('0123456789012345678901234567890123456789');
  expect(await isAncestor(absent, here ?? absent)).toBe(false);
  expect(await isAncestor(here ?? absent, absent)).toBe(false);
  expect(await isAncestor(absent, absent)).toBe(false);
});

test('the answer is that of git for any graph', async () => {
  const graph = fc.array(fc.array(fc.nat(), { maxLength: 3 }), { minLength: 2, maxLength: 90 });
  await fc.assert(
    fc.asyncProperty(graph, fc.nat(), fc.nat(), async (parentsOf, a, b) => {
      const commits: ObjectId[] = [];
      for (const picks of parentsOf) {
        const parents =
          commits.length === 0 ? [] : picks.flatMap(pick => commits[pick % commits.length] ?? []);
        commits.push(await commit([...new Set(parents)]));
      }
      const [one, other] = [commits[a % commits.length], commits[b % commits.length]];
      if (one === undefined || other === undefined) return;
      const asked = await git.run(['merge-base', '--is-ancestor', one, other], { gitDir: root });
      expect(await isAncestor(one, other)).toBe(asked.kind === 'ok');
    }),
    { numRuns: 30 },
  );
});

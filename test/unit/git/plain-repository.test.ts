import { chmod, rm, truncate, writeFile } from 'node:fs/promises';
import { describe, expect, it, vi } from 'vitest';
import { type ObjectId, parseObjectId } from '../../../src/git/objects/object-id.ts';
import { createObjectReader } from '../../../src/git/objects/object-reader.ts';
import { createPlainRepository } from '../../../src/git/objects/plain-repository.ts';
import { createCoprocessBudget } from '../../../src/git/process/coprocess-budget.ts';
import { createGit } from '../../../src/git/process/git.ts';
import { startAside } from '../../../src/git/starter/start-aside.ts';
import { createGitRepository, type GitRepository } from '../../fake/git-repository.ts';
import { IDENTITY, openRepository } from './open-repository.ts';

const NOWHERE = parseObjectId('1234567890123456789012345678901234567890');
const LARGE = 'x'.repeat(100_000);
const REFS = ['refs/heads/main', 'refs/tags/v1', 'refs/heads/alias', 'refs/heads/none', 'refs/heads/blob'];

const fileOf = (repository: GitRepository, id: string) =>
  `${repository.path}/objects/${id.slice(0, 2)}/${id.slice(2)}`;

/** A commit with a small and a large file, refs of every sort that lead to it, and one that leads to a file. */
async function makeRepository(): Promise<{ repository: GitRepository; commit: ObjectId; small: ObjectId }> {
  const repository = await createGitRepository();
  const files = { 'd/small': 'small', large: LARGE };
  const commit = parseObjectId(await repository.commit({ files }));
  await repository.git('tag', '-a', '-m', 'a tag', 'v1', commit);
  await repository.git('symbolic-ref', 'refs/heads/alias', 'refs/heads/main');
  const small = parseObjectId(await repository.git('rev-parse', `${commit}:d/small`));
  await writeFile(`${repository.path}/refs/heads/blob`, `${small}\n`);
  return { repository, commit, small };
}

/** As git has it; undefined: it leads to no commit. */
async function commitOf(repository: GitRepository, name: string): Promise<string | undefined> {
  const asked = await repository.raw(['cat-file', '--batch-check'], `${name}^{commit}\n`);
  const [id = '', kind] = asked.toString().trim().split(' ');
  return kind === 'commit' ? id : undefined;
}

async function resolvesAsGit(repository: GitRepository, names: readonly string[]): Promise<void> {
  await using open = openRepository(repository.path);
  for (const name of names)
    expect([name, await open.reader.resolve(name)]).toEqual([name, await commitOf(repository, name)]);
}

describe('a repository whose objects are files of their own', () => {
  it('is read without git, and says what is missing', async () => {
    const { repository, commit, small } = await makeRepository();
    await using _ = repository;
    await using open = openRepository(repository.path);
    expect(await open.reader.resolve('refs/heads/main')).toBe(commit);
    expect(await open.reader.resolve(commit)).toBe(commit);
    expect(await open.reader.resolve('refs/heads/none')).toBeUndefined();
    expect(await open.reader.readPath(commit, 'd/small', 5)).toMatchObject({ data: Buffer.from('small') });
    expect(await open.reader.readPath(commit, 'd/small', 4)).toEqual({ kind: 'too-large', size: 5 });
    expect(await open.reader.missing([commit, NOWHERE, small])).toEqual([NOWHERE]);
    expect(open.reader.pid()).toBeUndefined();
    // What only git can say it is asked for.
    expect(await open.reader.readPath(commit, 'large', LARGE.length)).toMatchObject({
      data: Buffer.from(LARGE),
    });
    expect(open.reader.pid()).toBeDefined();
  });

  it('has the refs and the objects that git finds, as files and packed', async () => {
    const { repository, commit, small } = await makeRepository();
    await using _ = repository;
    const names = [...REFS, commit, small, NOWHERE];
    await resolvesAsGit(repository, names);
    await repository.git('repack', '-adq');
    await resolvesAsGit(repository, names);
    await repository.git('pack-refs', '--all');
    await resolvesAsGit(repository, names);
    await repository.commit({ files: { more: '1' } });
    await resolvesAsGit(repository, names);
  });

  it('leaves to git what another repository lends it', async () => {
    const { repository, commit } = await makeRepository();
    await using _ = repository;
    await using borrower = await createGitRepository();
    await writeFile(`${borrower.path}/objects/info/alternates`, `${repository.path}/objects\n`);
    await using open = openRepository(borrower.path);
    expect(await open.reader.missing([commit, NOWHERE])).toEqual([NOWHERE]);
  });

  it('believes no file that does not hold what its name says', async () => {
    const { repository, commit, small } = await makeRepository();
    await using _ = repository;
    const plain = createPlainRepository(repository.path);
    expect(plain.object(small)).toMatchObject({ kind: 'blob' });
    await chmod(fileOf(repository, small), 0o644);
    await truncate(fileOf(repository, small), 0);
    expect(plain.object(small)).toBe('for-git');
    expect(plain.object(NOWHERE)).toBe('missing');
    await writeFile(`${repository.path}/refs/heads/main`, 'nonsense\n');
    expect(plain.tip('refs/heads/main')).toBe('for-git');
    expect(plain.tip('refs/heads')).toBe('for-git');
    expect(plain.tip('../config')).toBe('for-git');
    expect(plain.object(commit)).toMatchObject({ kind: 'commit' });
  });
});

describe('what a reader keeps of files', () => {
  it('is dropped when nothing was read for a while', async () => {
    const { repository, commit } = await makeRepository();
    await using _ = repository;
    const git = createGit({ identity: IDENTITY, start: startAside });
    const reader = createObjectReader(git, repository.path, { idleMs: 50 });
    await reader.commit(commit);
    await rm(fileOf(repository, commit));
    await vi.waitFor(async () => expect(await reader.missing([commit])).toEqual([commit]), 20_000);
    await reader.close();
  });

  it('is dropped when other repositories are read, beyond the bound of processes', async () => {
    const { repository, commit } = await makeRepository();
    await using _ = repository;
    const git = createGit({ identity: IDENTITY, start: startAside });
    const budget = createCoprocessBudget(2);
    const [first, ...others] = [1, 2, 3].map(() => createObjectReader(git, repository.path, { budget }));
    await first?.commit(commit);
    await others[0]?.commit(commit);
    const tree = (await others[0]?.commit(commit))?.tree ?? expect.unreachable();
    await rm(fileOf(repository, commit));
    expect(await first?.missing([commit])).toEqual([]);
    await others[1]?.tree(tree);
    expect(await first?.missing([commit])).toEqual([commit]);
    expect(await others[0]?.missing([commit])).toEqual([]);
    for (const reader of [first, ...others]) await reader?.close();
  });
});

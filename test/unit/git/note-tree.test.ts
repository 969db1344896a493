/** git reads what is written here, and what git wrote is kept. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ObjectId, parseObjectId } from '../../../src/git/objects/object-id.ts';
import { addToNotes } from '../../../src/git/remote/note-tree.ts';
import { createGitRepository, type GitRepository } from '../../fake/git-repository.ts';
import { type OpenRepository, openRepository } from './open-repository.ts';

let host: GitRepository;
let open: OpenRepository;
let commit: ObjectId;
beforeEach(async () => {
  host = await createGitRepository();
  open = openRepository(host.path);
  commit = parseObjectId(await host.commit({ files: { a: '1' } }));
});
afterEach(async () => {
  await open[Symbol.asyncDispose]();
  await host.remove();
});

async function add(root: ObjectId | undefined, to: ObjectId, text: string): Promise<ObjectId> {
  const added = await addToNotes(open, root, to, text);
  if (added.kind !== 'added') throw new Error(added.kind);
  return added.tree;
}

async function keep(tree: ObjectId): Promise<void> {
  const tip = await host.git('commit-tree', '-m', 'notes', tree);
  await host.git('update-ref', 'refs/notes/x', tip);
}

async function notesOfGit(): Promise<ObjectId> {
  return parseObjectId(await host.git('rev-parse', 'refs/notes/x^{tree}'));
}

const show = (of: string) => host.git('notes', '--ref=x', 'show', of);

/** Any object may have a note. */
async function objects(count: number): Promise<readonly ObjectId[]> {
  return Promise.all(
    Array.from({ length: count }, (_, index) => open.writer.write('blob', Buffer.from(String(index)))),
  );
}

describe('a paragraph', () => {
  it('begins a note, and follows what is there', async () => {
    const first = await add(undefined, commit, 'check: SUCCESS\n');
    await keep(await add(first, commit, 'gate: FAILURE'));
    expect(await show(commit)).toBe('check: SUCCESS\n\ngate: FAILURE');
  });

  it('is not added twice', async () => {
    const tree = await add(await add(undefined, commit, 'one'), commit, 'two');
    for (const text of ['one', 'two', 'one\n\ntwo'])
      expect(await addToNotes(open, tree, commit, text)).toEqual({ kind: 'already-there' });
    expect(await addToNotes(open, tree, commit, 'tw')).toMatchObject({ kind: 'added' });
  });

  it('is added to the note that git wrote, wherever that is', async () => {
    for (const count of [1, 700]) {
      const noted = await objects(count);
      await host.git('notes', '--ref=x', 'add', '--force', '-m', 'git', commit);
      const copies = noted.map(each => `${commit} ${each}\n`).join('');
      await host.raw(['notes', '--ref=x', 'copy', '--force', '--stdin'], copies);
      const last = noted.at(-1) ?? commit;
      await keep(await add(await notesOfGit(), last, 'ours'));
      expect(await show(last)).toBe('git\n\nours');
      expect((await host.git('notes', '--ref=x', 'list')).split('\n')).toHaveLength(count + 1);
    }
  });

  it('is refused where the note is large already', async () => {
    const large = await add(undefined, commit, 'x'.repeat(1024 * 1024 - 1));
    expect(await addToNotes(open, large, commit, 'more')).toMatchObject({ kind: 'too-large' });
  });
});

it('many notes are in folders, which git reads and continues', async () => {
  const noted = await objects(600);
  let tree: ObjectId | undefined;
  for (const each of noted) tree = await add(tree, each, `note of ${each}`);
  await keep(tree ?? commit);
  const top = (await host.git('ls-tree', 'refs/notes/x')).split('\n');
  expect(top.length).toBeLessThan(256 + 257);
  expect((await host.git('notes', '--ref=x', 'list')).split('\n')).toHaveLength(600);
  for (const each of [noted[0], noted[300], noted[599]])
    expect(await show(each ?? '')).toBe(`note of ${each}`);
  await host.git('notes', '--ref=x', 'append', '-m', 'by git', noted[599] ?? '');
  expect(await show(noted[599] ?? '')).toBe(`note of ${noted[599]}\n\nby git`);
  await keep(await add(await notesOfGit(), noted[599] ?? commit, 'ours again'));
  expect(await show(noted[599] ?? '')).toBe(`note of ${noted[599]}\n\nby git\n\nours again`);
});

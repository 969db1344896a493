/** What hosts for tests know without git is what git says. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { answerFromFiles } from '../../fake/answer-from-files.ts';
import { createGitRepository, type GitRepository } from '../../fake/git-repository.ts';

let repository: GitRepository;
const commits: string[] = [];

/** 0 ─ 1 ─ 2, 0 ─ 3 beside them, and 4, a merge of both. */
beforeEach(async () => {
  repository = await createGitRepository();
  const ids = [await repository.commit({ files: { 'a.txt': 'a\n' }, message: 'One line' })];
  ids.push(await repository.commit({ files: { 'a.txt': 'b\n' }, message: 'Subject\n\nBody\n\nmore\n' }));
  ids.push(await repository.commit({ files: { 'a.txt': 'c\n' }, message: 'Two\nlines\n' }));
  const [first = ''] = ids;
  ids.push(await repository.commit({ ref: 'refs/heads/fix', parents: [first], files: { 'b.txt': 'b\n' } }));
  ids.push(await repository.commit({ ref: 'refs/heads/merged', parents: ids.slice(2), message: 'Merge\n' }));
  commits.splice(0, commits.length, ...ids);
});
afterEach(() => repository[Symbol.asyncDispose]());

const asked = (args: readonly string[]) => answerFromFiles(repository.path, args);
/** Null as in the answers: an error without a word. */
const git = (args: readonly string[]) =>
  repository.git(...args).then(
    text => text.trimEnd(),
    (error: Error) => (error.message.includes('"code":1') ? null : error.message),
  );
const named = (line: string) =>
  line.replaceAll(/#(\d)/g, (_, at: string) => commits[Number(at)] ?? '').split(' ');

test.each([
  'cat-file commit #1',
  'cat-file -t #1',
  'cat-file -e #1',
  'cat-file -e #1^{commit}',
  'rev-parse #1^{commit}',
  'rev-parse --verify -q #1^{tree}',
  'rev-parse --verify --end-of-options refs/heads/fix',
  'merge-base --is-ancestor #0 #4',
  'merge-base --is-ancestor #2 #2',
  'merge-base --is-ancestor #2 #3',
  'merge-base --is-ancestor #4 #0',
  'merge-tree --write-tree #0 #2',
  'merge-tree --write-tree #4 #1',
  'merge-tree --write-tree #3 #3',
  'rev-list #2',
  'rev-list --reverse #0..#2',
  'rev-list --reverse --max-count=1 #2 ^#3',
  'rev-list #0 ^#2',
  'rev-list --max-count=1000 #3 ^#2',
  'log -1 --format=%H%n%T%n%P%n%B #1 --',
  'log -1 --format=%s #1',
  'log -1 --format=%b #1',
  'log -1 --format=%an%n%ae%n%cn%n%ce #3',
  'log -1 --format=%B%n%s%n%b #0',
  'log --first-parent --format=%H|%P|%s fix',
  'log --first-parent --reverse --format=%s fix',
  'log --first-parent --merges --reverse --format=%s fix',
  'notes --ref=nothing list',
])('%s', async line => {
  const answer = await asked(named(line));
  expect(answer).toBe(await git(named(line)));
});

test.each([
  'rev-list #4',
  'rev-list --count #2',
  'rev-list refs/heads/main',
  'log -1 --format=%s #2',
  'log -1 --format=%cI #1',
  'log -2 --format=%s #1',
  'log --first-parent --format=%s merged',
  'log --first-parent --format=%s nothing',
  'log --format=%s fix',
  'log --first-parent --format=%s #1',
  'notes list',
  'notes --ref=nothing show #1',
  'cat-file -p #1',
  `cat-file -t ${'1'.repeat(40)}`,
  'rev-parse refs/heads/nothing',
  `merge-base --is-ancestor ${'1'.repeat(40)} #1`,
  'merge-base #1 #2',
  'merge-tree --write-tree #2 #3',
  'merge-tree --write-tree --name-only #0 #2',
  `update-ref refs/heads/main ${'1'.repeat(40)}`,
  'update-ref refs/heads/main #3 #1',
  `update-ref refs/heads/main #3 ${'0'.repeat(40)}`,
  'update-ref -d refs/heads/nothing',
])('is left to git: %s', async line => {
  expect(await asked(named(line))).toBeUndefined();
  expect(await repository.tip('refs/heads/main')).toBe(commits[2]);
});

test('the merges of a branch, and the notes', async () => {
  await repository.commit({ ref: 'refs/heads/landed', parents: [commits[1] ?? ''], message: 'Next\n' });
  const tip = (await repository.tip('refs/heads/landed')) ?? '';
  await repository.commit({
    ref: 'refs/heads/landed',
    parents: [tip, commits[3] ?? ''],
    message: 'Merge fix\n',
  });
  for (const [at, text] of ['One\n\nand more', 'Two'].entries())
    await repository.git('notes', '--ref=few', 'add', '-m', text, commits[at] ?? '');
  for (const line of [
    'log --first-parent --merges --reverse --format=%H %T %P|%s landed',
    'log --first-parent --reverse --format=%s landed',
    'notes --ref=few list',
    'notes --ref=few show #0',
  ]) {
    const args = line
      .replaceAll('%H %T %P', '%H_%T_%P')
      .split(' ')
      .map(each => each.replaceAll('_', ' ').replace('#0', commits[0] ?? ''));
    const answer = await asked(args);
    expect(answer).not.toBe('');
    expect(answer).toBe(await git(args));
  }
});

test('objects in packs are left to git', async () => {
  await repository.git('repack', '-adq');
  const packed = await createGitRepository();
  await packed.git('fetch', '-q', '--keep', repository.path, '+refs/heads/*:refs/heads/*');
  for (const line of [
    'cat-file commit #1',
    'cat-file -t #1',
    'merge-base --is-ancestor #0 #1',
    'rev-list #1',
  ])
    expect(await answerFromFiles(packed.path, named(line))).toBeUndefined();
  await packed.remove();
});

test('moves refs as git does', async () => {
  const tip = () =>
    repository.git('for-each-ref', '--format=%(objectname)', 'refs/heads/main', 'refs/new/one');
  expect(await asked(named('update-ref refs/heads/main #3 #2'))).toBe('');
  expect(await tip()).toBe(commits[3]);
  expect(await asked(named(`update-ref refs/new/one #1 ${'0'.repeat(40)}`))).toBe('');
  expect(await asked(named('update-ref -d refs/heads/main'))).toBe('');
  expect(await tip()).toBe(commits[1]);
  expect(await asked(named('update-ref -d refs/new/one #1'))).toBe('');
  expect(await tip()).toBe('');
});

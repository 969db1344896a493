import { expect, test } from 'vitest';
import { createCommitWriter } from '../../fake/commit-writer.ts';
import { createGitRepository, FAST_IMPORT } from '../../fake/git-repository.ts';

const WHO = 'Ada Example <ada@example.org> 1767225600 +0000';

test('what is written without git is what git would write', async () => {
  await using repository = await createGitRepository();
  const writer = createCommitWriter(repository.path);
  const first = await writer.write({
    parents: [],
    files: [
      ['README.md', 'hello\n', false],
      ['a-b', '1', false],
      ['a/b/c.txt', '', false],
      ['a/b.txt', 'x\n', false],
      ['a.txt', 'é\n', false],
      ['playbooks/job.sh', '#!/bin/sh\n', true],
    ],
    message: 'Begin',
    who: WHO,
  });
  const second = await writer.write({
    parents: [first ?? ''],
    files: [
      ['a/b/c.txt', null, false],
      ['README.md', 'again\n', false],
    ],
    message: 'Second\n\nBody é\n',
    who: WHO,
  });
  const stream = [
    `commit refs/heads/main\nmark :1\nauthor ${WHO}\ncommitter ${WHO}\ndata 5\nBegin\n`,
    'M 100644 inline README.md\ndata 6\nhello\n\nM 100644 inline a-b\ndata 1\n1\nM 100644 inline a/b/c.txt\ndata 0\n\n',
    'M 100644 inline a/b.txt\ndata 2\nx\n\nM 100644 inline a.txt\ndata 3\né\n\nM 100755 inline playbooks/job.sh\ndata 10\n#!/bin/sh\n\n',
    `commit refs/heads/main\nmark :2\nauthor ${WHO}\ncommitter ${WHO}\ndata 16\nSecond\n\nBody é\n\n`,
    'D a/b/c.txt\nM 100644 inline README.md\ndata 6\nagain\n\nget-mark :1\nget-mark :2\n',
  ];
  const made = (await repository.raw(FAST_IMPORT, stream.join(''))).toString().trim().split('\n');
  expect([first, second]).toEqual(made);
  expect(await repository.git('fsck', '--strict', '--no-dangling')).toBe('');
});

test('what another made is read from its objects, and has a committer of its own', async () => {
  await using repository = await createGitRepository();
  const made = await repository.commit({ files: { 'a/b.txt': '1\n', 'c.txt': '2\n' } });
  const id = await createCommitWriter(repository.path).write({
    parents: [made],
    files: [['a/d.txt', '3\n', false]],
    message: 'm\n',
    who: WHO,
    committer: WHO.replaceAll('Ada', 'Bob'),
  });
  await repository.git('update-ref', 'refs/heads/main', id ?? '');
  expect(await repository.git('log', '-1', '--format=%an %cn')).toBe('Ada Example Bob Example');
  expect(await repository.git('ls-tree', '-r', '--name-only', 'main')).toBe('a/b.txt\na/d.txt\nc.txt');
  expect(await repository.git('fsck', '--strict', '--no-dangling')).toBe('');
});

test.each([
  ['a parent that is not here', ['0'.repeat(40)], [['a', '1', false]]],
  ['an unusual name', [], [['a b', '1', false]]],
  ['a folder that begins with a dot', [], [['a/.git/config', '1', false]]],
  [
    'a file that is a folder, too',
    [],
    [
      ['a', '1', false],
      ['a/b', '2', false],
    ],
  ],
  ['a deletion of what is not there', [], [['a', null, false]]],
] as const)('%s is left to git', async (_, parents, files) => {
  await using repository = await createGitRepository();
  const writer = createCommitWriter(repository.path);
  expect(await writer.write({ parents, files, message: 'm', who: WHO })).toBeUndefined();
});

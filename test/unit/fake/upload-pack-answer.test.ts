/** What hosts for tests answer by themselves is what git answers. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ObjectId, parseObjectId } from '../../../src/git/objects/object-id.ts';
import { parseRefName } from '../../../src/git/objects/ref-name.ts';
import { listingRequest, packRequest, readPack } from '../../../src/git/wire/upload-pack.ts';
import { type GitHttpHost, startGitHttpHost } from '../../fake/git-http-host.ts';
import { createGitRepository, type GitRepository } from '../../fake/git-repository.ts';
import { packet } from '../../fake/pkt-line.ts';
import { answerUploadPack } from '../../fake/upload-pack-answer.ts';

let repository: GitRepository;
let first: ObjectId;
let second: ObjectId;

beforeEach(async () => {
  repository = await createGitRepository();
  first = parseObjectId(await repository.commit({ files: { 'a.txt': 'one\n'.repeat(500) } }));
  second = parseObjectId(await repository.commit({ files: { 'a.txt': `${'one\n'.repeat(500)}two\n` } }));
  await repository.git('update-ref', 'refs/changes/01/1/1', first);
  await repository.git('update-ref', 'refs/changes/01/1/meta', first);
  await repository.git('update-ref', 'refs/changes/01/11/1', second);
  await repository.git('update-ref', 'refs/heads/topic/a', first);
});
afterEach(() => repository[Symbol.asyncDispose]());

const byGit = (question: string | Buffer, ...settings: readonly string[]) =>
  repository.raw([...settings, 'upload-pack', '--stateless-rpc', repository.path], question, {
    GIT_PROTOCOL: 'version=2',
  });
const answered = (question: string | Buffer, hidden: readonly string[] = []) =>
  answerUploadPack(repository.path, Buffer.from(question), hidden);

/** As git sends it. */
function lsRefs(...lines: readonly string[]): Buffer {
  const head = ['command=ls-refs\n', 'agent=git/2.39.5\n', 'object-format=sha1'].map(packet);
  return Buffer.concat([...head, Buffer.from('0001'), ...lines.map(packet), Buffer.from('0000')]);
}

const QUESTIONS: readonly (readonly [string, string | Buffer])[] = [
  ['every ref', lsRefs('peel\n', 'symrefs\n', 'unborn\n')],
  ['every ref, plainly', lsRefs()],
  ['HEAD and branches', lsRefs('peel\n', 'symrefs\n', 'ref-prefix HEAD\n', 'ref-prefix refs/heads/\n')],
  ['a name that is part of others', lsRefs('symrefs\n', 'ref-prefix refs/changes/01/1\n')],
  ['nothing that is there', lsRefs('ref-prefix refs/nothing\n')],
  ['one branch, as the service asks', listingRequest([parseRefName('refs/heads/main')])],
];

test.each(QUESTIONS)('lists %s as git does', async (_, question) => {
  expect(String(await answered(question))).toBe(String(await byGit(question)));
  await repository.git('pack-refs', '--all');
  await repository.commit({ files: { 'b.txt': 'b\n' } });
  expect(String(await answered(question))).toBe(String(await byGit(question)));
});

test('hides what git hides', async () => {
  const question = lsRefs('symrefs\n');
  expect(String(await answered(question, ['refs/changes/01/1']))).toBe(
    String(await byGit(question, '-c', 'uploadpack.hideRefs=refs/changes/01/1')),
  );
});

test('sends the pack that git sends', async () => {
  for (const haves of [[], [first]]) {
    const question = packRequest([second], haves);
    const answer = await answered(question);
    const pack = answer && readPack(answer);
    expect(pack?.length).toBeGreaterThan(100);
    expect(pack).toEqual(readPack(await byGit(question)));
  }
});

test('leaves to git what is not plain', async () => {
  const unknown = parseObjectId('1'.repeat(40));
  expect(await answered(packRequest([unknown], []))).toBeUndefined();
  expect(await answered(packRequest([second], [unknown]))).toBeUndefined();
  expect(await answered(packRequest([second], [first]).replace('0009done\n', ''))).toBeUndefined();
  expect(await answered(packRequest([second], []).slice(0, -4))).toBeUndefined();
  await repository.git('tag', '-a', '-m', 'one', 'v1');
  expect(await answered(lsRefs('peel\n'))).toBeUndefined();
  await repository.git('symbolic-ref', 'refs/heads/alias', 'refs/heads/main');
  expect(await answered(lsRefs())).toBeUndefined();
  await repository.git('symbolic-ref', 'HEAD', 'refs/heads/unborn');
  expect(await answered(lsRefs('symrefs\n', 'ref-prefix HEAD\n'))).toBeUndefined();
});

test('git clones and fetches from such a host', async () => {
  await using host: GitHttpHost = await startGitHttpHost(repository.path.replace(/\/[^/]+$/, ''));
  await using clone = await createGitRepository();
  const url = `${host.url}/repository`;
  await clone.git('fetch', '--quiet', url, '+refs/*:refs/*');
  expect(await clone.tip('refs/changes/01/11/1')).toBe(second);
  await repository.git('tag', '-a', '-m', 'one', 'v1', first);
  const third = await repository.commit({ files: { 'a.txt': 'three\n' } });
  await clone.git('fetch', '--quiet', '--tags', url, '+refs/heads/*:refs/heads/*');
  expect(await clone.tip('refs/heads/main')).toBe(third);
  expect(await clone.git('rev-parse', 'v1^{commit}')).toBe(first);
  await clone.git('fsck', '--full', '--strict');
  await expect(clone.git('fetch', '--quiet', url, '1'.repeat(40))).rejects.toThrow(/not our ref/);
});

import { expect, test } from 'vitest';
import { createGit } from '../../../src/git/git.ts';
import { memoryLimited } from '../../../src/git/memory-limit.ts';
import { parseRefName } from '../../../src/git/ref-name.ts';
import { remoteFailure } from '../../../src/git/remote-failure.ts';
import { openRepositoryCache } from '../../../src/git/repository-cache.ts';
import { createGitRepository } from '../../fake/git-repository.ts';
import { IDENTITY } from './open-repository.ts';
import { unfolded, unfoldingPack } from './unfolding-pack.ts';

const LIMIT = 150_000_000;

test('a pack that unfolds to more than git may take is refused at once, for a reason of its own', async () => {
  await using repository = await createGitRepository();
  const git = createGit({ identity: IDENTITY, memoryBytes: LIMIT });
  const pack = unfoldingPack(64);
  expect(pack.length).toBeLessThan(20_000);
  expect(unfolded(64)).toBeGreaterThan(1_000_000_000);
  const result = await git.run(['index-pack', '--stdin'], { gitDir: repository.path, input: pack });
  if (result.kind === 'ok') expect.unreachable('the pack was unfolded');
  expect(remoteFailure(result)).toMatchObject({
    reason: 'too-large',
    message: expect.stringContaining('Out of memory'),
  });
});

test('a host that serves such a pack does not get it into a mirror, and other commits of it come all the same', async () => {
  await using host = await createGitRepository();
  const good = await host.commit({ files: { 'README.md': 'fine\n' } });
  const copies = 16;
  await host.raw(['index-pack', '--stdin'], unfoldingPack(copies));
  const objects = await host.git(
    'cat-file',
    '--batch-all-objects',
    '--batch-check=%(objectname) %(objectsize)',
  );
  const blob = objects
    .split('\n')
    .find(line => line.endsWith(` ${unfolded(copies)}`))
    ?.split(' ')[0];
  const tree = (await host.raw(['mktree'], `100644 blob ${blob}\thuge\n`)).toString().trim();
  const commit = await host.git('commit-tree', tree, '-m', 'Huge', '-p', good);
  await host.git('update-ref', 'refs/heads/huge', commit);
  await using mirror = await createGitRepository();
  await using cache = await openRepositoryCache({
    root: `${mirror.path}-cache`,
    git: createGit({ identity: IDENTITY, memoryBytes: LIMIT, protocols: ['file'] }),
  });
  const repository = await cache.repository('local', 'acme/app');
  const remote = { url: host.url };
  const refused = await repository.fetch(remote, [{ ref: parseRefName('refs/heads/huge') }]);
  expect(refused).toMatchObject({ kind: 'remote-failed', reason: 'too-large' });
  const fetched = await repository.fetch(remote, [{ ref: parseRefName('refs/heads/main') }]);
  expect(fetched).toMatchObject({ kind: 'fetched', commits: [good] });
});

test('without a limit, or without prlimit, git is started as it is', () => {
  expect(memoryLimited(null, process.env.PATH ?? '')).toEqual([]);
  expect(memoryLimited(LIMIT, '/nonexistent:relative')).toEqual([]);
  expect(memoryLimited(LIMIT, process.env.PATH ?? '').slice(1)).toEqual([`--data=${LIMIT}:${LIMIT}`, '--']);
});

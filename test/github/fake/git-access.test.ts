/** git at the fake: tokens, protected branches, forks, pull requests that became merged by a push. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { commitFiles, git } from './bare-git.ts';
import { startFakeGithub } from './fake-github.ts';
import type { Permissions, Repository } from './world.ts';

const run = promisify(execFile);

async function scene() {
  const github = await startFakeGithub();
  const app = await github.repository('acme/app');
  const installation = await github.install('acme');
  const dir = await mkdtemp(path.join(tmpdir(), 'fake-github-clone-'));
  const { credentials } = github;
  const token = (permissions: Permissions, repositories: readonly Repository[] | null = null) =>
    credentials.installationToken(
      installation,
      permissions,
      repositories && new Set(repositories.map(({ id }) => id)),
    ).token;
  const as = (secret: string) =>
    `http.extraHeader=Authorization: Basic ${Buffer.from(`x-access-token:${secret}`).toString('base64')}`;
  return {
    github,
    app,
    installation,
    dir,
    token,
    /** What git prints when it fails; empty: it did not. */
    git: (secret: string, ...args: string[]) =>
      run('git', ['-C', app.dir, '-c', as(secret), ...args]).then(
        () => '',
        error => String(error.stderr),
      ),
    /** A commit in the host's own repository, as if it had been fetched. */
    commit: async (name: string, parent?: string) =>
      commitFiles(app.dir, {
        parent: parent ?? (await github.tip(app, 'main')),
        files: { [name]: name },
        message: name,
        author: 'alice',
      }),
    url: (repository: Repository) => `${github.url}/${repository.owner}/${repository.name}.git`,
    async [Symbol.asyncDispose]() {
      await rm(dir, { recursive: true, force: true });
      await github[Symbol.asyncDispose]();
    },
  };
}

test('a token reads and writes the repositories that it is for, with the permissions that it has', async () => {
  await using world = await scene();
  const other = await world.github.repository('acme/other');
  const url = world.url(world.app);
  const reader = world.token({ contents: 'read' }, [world.app]);
  expect(await world.git(reader, 'ls-remote', url)).toBe('');
  expect(await world.git(reader, 'ls-remote', world.url(other))).toContain('403');
  const commit = await world.commit('a.txt');
  expect(await world.git(reader, 'push', url, `${commit}:refs/heads/topic`)).toContain('403');
  expect(
    await world.git(world.token({ contents: 'write' }), 'push', url, `${commit}:refs/heads/topic`),
  ).not.toContain('error');
  expect(await world.github.tip(world.app, 'topic')).toBe(commit);
  expect(await world.git('ghs_wrong', 'ls-remote', url)).toMatch(
    /401|Authentication failed|could not read Username/,
  );
  world.installation.suspended = true;
  expect(await world.git(reader, 'ls-remote', url)).toContain('403');
});

test('a protected branch takes only what its rules allow', async () => {
  await using world = await scene();
  const { github, app } = world;
  const url = world.url(app);
  const token = world.token({ contents: 'write', metadata: 'read' });
  await github.protect(app, 'main', { checks: ['acme/gate'] });
  const commit = await world.commit('a.txt');
  const push = (name: string) => world.git(token, 'push', url, `${name}:refs/heads/main`);
  expect(await push(commit)).toMatch(
    /GH006: Protected branch update failed for refs\/heads\/main.*\n.*\n.*Required status check "acme\/gate" is expected/,
  );
  await github.status(app, commit, 'acme/gate', 'success');
  expect(await push(commit)).not.toContain('error');
  await github.unprotect(app, 'main');
  await github.addRuleset(app, 'main', { approvals: 1, bypass: [] });
  const next = await world.commit('b.txt', commit);
  expect(await push(next)).toContain('GH013: Repository rule violations found for refs/heads/main');
  Object.assign(app.rulesets[0]!, { bypass: ['gatehouse[bot]'] });
  expect(await push(next)).not.toContain('error');
  const workflow = await world.commit('.github/workflows/ci.yml', next);
  expect(await push(workflow)).toContain('without `workflows` permission');
});

test('a push that contains the head of a pull request merges it', async () => {
  await using world = await scene();
  const { github, app } = world;
  const fork = await github.fork(app, 'carol');
  const pull = await github.openPull(app, { from: fork, user: 'carol', files: { 'c.txt': 'c' } });
  expect(await git(app.dir, 'rev-parse', 'refs/pull/1/head')).toBe(pull.now.head);
  await github.push(fork, pull.headRef, { files: { 'd.txt': 'd' }, user: 'carol' });
  expect(await git(app.dir, 'rev-parse', 'refs/pull/1/head')).toBe(pull.now.head);
  const from = github.deliveries.length;
  expect(
    await world.git(
      world.token({ contents: 'write' }),
      'push',
      world.url(app),
      `${pull.now.head}:refs/heads/main`,
    ),
  ).not.toContain('error');
  await github.settled();
  expect(pull.now).toMatchObject({ merged: true, mergeCommit: pull.now.head, mergedBy: 'gatehouse[bot]' });
  expect(github.deliveries.slice(from).map(({ event, action }) => [event, action])).toEqual([
    ['push', null],
    ['pull_request', 'closed'],
  ]);
});

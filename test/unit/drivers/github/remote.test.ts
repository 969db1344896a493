import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { noCredentials } from '../../../../drivers/github/api/credentials.ts';
import { createGithubRemote } from '../../../../drivers/github/remote.ts';
import { Secret } from '../../../../src/lib/secret.ts';
import { projectKey } from '../../../../src/model/project.ts';
import { openClientWorld, SECOND_TOKEN, TOKEN } from './api/client-world.ts';

const PROJECT = projectKey({ connection: 'gh', name: 'acme/app' });
const OPTIONS = {
  server: 'github.com',
  cloneUrl: 'https://github.com',
  repoCache: undefined,
  sshKey: undefined,
  sshKnownHosts: undefined,
  identification: { kind: 'app', id: 12, key: new Secret('key') },
} as const;
const TOKENS = 'POST /app/installations/7/access_tokens';

let world: Awaited<ReturnType<typeof openClientWorld>>;
beforeEach(async () => {
  world = await openClientWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

function remoteOf(options: Partial<Parameters<typeof createGithubRemote>[0]> = {}) {
  return createGithubRemote(
    { ...OPTIONS, ...options },
    world.client.credentials,
    AbortSignal.timeout(20_000),
  );
}
const basic = (token: string) =>
  `Authorization: Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`;

describe('git reaches a repository', () => {
  test('to read with a token that reads this repository and nothing else, kept until it nears its end', async () => {
    const remote = remoteOf();
    const expected = { url: 'https://github.com/acme/app.git', headers: [basic(TOKEN)], lendable: true };
    expect(await remote(PROJECT, 'read')).toEqual(expected);
    expect(await remote(PROJECT, 'read')).toEqual(expected);
    expect(world.host.asked.filter(({ route }) => route === TOKENS).map(({ body }) => body)).toEqual([
      { permissions: { metadata: 'read', contents: 'read' }, repositories: ['app'] },
    ]);
  });

  test('to write with another', async () => {
    world.host.answer(
      TOKENS,
      { status: 201, body: { token: TOKEN } },
      { status: 201, body: { token: SECOND_TOKEN } },
    );
    const remote = remoteOf({ repoCache: 'eu.example.org' });
    expect(await remote(PROJECT, 'read')).toMatchObject({ url: 'https://eu.example.org/acme/app.git' });
    expect(await remote(PROJECT, 'write')).toEqual({
      url: 'https://github.com/acme/app.git',
      headers: [basic(SECOND_TOKEN)],
    });
    // The installation of the test has no permission for workflows.
    expect(world.host.asked.at(-1)?.body).toEqual({
      permissions: { metadata: 'read', contents: 'write' },
      repositories: ['app'],
    });
  });

  test('with the token of a user, which is never lent: it opens more', async () => {
    const remote = remoteOf({ identification: { kind: 'token', token: new Secret(TOKEN) } });
    expect(await remote(PROJECT, 'read')).not.toHaveProperty('lendable');
  });

  test('without a key by the address alone, and never to write', async () => {
    const identification = { kind: 'app-without-key', id: 12 } as const;
    const remote = createGithubRemote(
      { ...OPTIONS, identification },
      noCredentials,
      AbortSignal.timeout(20_000),
    );
    expect(await remote(PROJECT, 'read')).toEqual({ url: 'https://github.com/acme/app.git' });
    await expect(remote(PROJECT, 'write')).rejects.toMatchObject({
      message: expect.stringMatching(/no app_key/),
    });
    expect(world.host.asked).toEqual([]);
  });

  test('with a key by ssh, to read alone', async () => {
    const remote = remoteOf({ sshKey: '/etc/gatehouse/id', sshKnownHosts: '/etc/gatehouse/hosts' });
    expect(await remote(PROJECT, 'read')).toEqual({
      url: 'ssh://git@github.com/acme/app.git',
      environment: { GIT_SSH_COMMAND: expect.stringContaining('/etc/gatehouse/id') },
    });
    expect(world.host.asked).toEqual([]);
    expect(await remote(PROJECT, 'write')).toMatchObject({ url: 'https://github.com/acme/app.git' });
  });

  test('not at all when the App is not installed: an error that is tried again', async () => {
    world.host.answer('GET /repos/acme/app/installation', { status: 404, body: { message: 'Not Found' } });
    await expect(remoteOf()(PROJECT, 'read')).rejects.toMatchObject({
      name: 'NoGithubAccess',
      retryable: true,
      later: { reason: 'denied' },
      message: expect.stringMatching(/not installed on acme\/app/),
    });
  });
});

import { describe, expect, test } from 'vitest';
import type { GerritAuth } from '../../../../drivers/gerrit/options.ts';
import { createGerritRemote, gerritPublicUrl } from '../../../../drivers/gerrit/remote.ts';
import { createGerritUsage } from '../../../../drivers/gerrit/usage.ts';
import { Secret } from '../../../../src/lib/secret.ts';
import { projectKey } from '../../../../src/model/project.ts';

const PROJECT = projectKey({ connection: 'review', name: 'acme/app' });
const BASIC: GerritAuth = { kind: 'basic', user: 'ci', password: new Secret('hunter2') };
const OPTIONS = {
  server: 'review.example.org',
  baseUrl: 'https://review.example.org/r',
  auth: BASIC,
  ssh: undefined,
  gitOverSsh: false,
  gitMirror: undefined,
};
const SSH = { user: 'ci', port: 29_418, key: '/etc/gatehouse/id', knownHosts: '/etc/gatehouse/hosts' };
const remoteOf = (over: object, project = PROJECT) =>
  createGerritRemote({ ...OPTIONS, ...over })(project, 'read');

describe('git reaches a project at Gerrit', () => {
  test('over HTTP with the account, which is never lent', async () => {
    const header = `Authorization: Basic ${Buffer.from('ci:hunter2').toString('base64')}`;
    expect(await remoteOf({})).toEqual({ url: 'https://review.example.org/r/a/acme/app', headers: [header] });
    expect(await remoteOf({ auth: { kind: 'bearer', token: new Secret('t') } })).toMatchObject({
      headers: ['Authorization: Bearer t'],
    });
    expect(await remoteOf({ auth: { kind: 'cookie', cookie: new Secret('o=x') } })).toMatchObject({
      headers: ['Cookie: o=x'],
    });
  });

  test('over SSH where that is wanted, or where git has no way to prove the account', async () => {
    const url = 'ssh://ci@review.example.org:29418/acme/app';
    const environment = { GIT_SSH_COMMAND: expect.stringContaining("-i '/etc/gatehouse/id'") };
    expect(await remoteOf({ ssh: SSH, gitOverSsh: true })).toEqual({ url, environment });
    const digest = { kind: 'digest', user: 'ci', password: new Secret('hunter2') };
    expect(await remoteOf({ ssh: { ...SSH, host: 'ssh.example.org' }, auth: digest })).toMatchObject({
      url: 'ssh://ci@ssh.example.org:29418/acme/app',
    });
    expect(await remoteOf({ ssh: SSH })).toMatchObject({ url: 'https://review.example.org/r/a/acme/app' });
  });

  test('and its mirror without the account, however Gerrit itself is asked', async () => {
    const gitMirror = 'https://mirror.example.org/git';
    const mirror = { url: 'https://mirror.example.org/git/acme/app' };
    for (const over of [{}, { ssh: SSH, gitOverSsh: true }, { auth: { kind: 'none' } }])
      expect(await remoteOf({ ...over, gitMirror })).toMatchObject({ mirror });
  });

  test('as the public does, without an account', async () => {
    const url = 'https://review.example.org/r/acme/app';
    expect(await remoteOf({ auth: { kind: 'none' } })).toEqual({ url });
    expect(await remoteOf({ auth: { kind: 'digest', user: 'ci', password: new Secret('hunter2') } })).toEqual(
      { url },
    );
    expect(gerritPublicUrl(OPTIONS)(PROJECT)).toBe(url);
  });

  test('by a name that is encoded, and never by one that leads elsewhere', async () => {
    const odd = projectKey({ connection: 'review', name: 'a b/c?d#e%2Ff' });
    expect(await remoteOf({}, odd)).toMatchObject({
      url: 'https://review.example.org/r/a/a%20b/c%3Fd%23e%252Ff',
    });
    for (const name of ['../x', 'a//b', 'a/./b'])
      await expect(remoteOf({}, projectKey({ connection: 'review', name }))).rejects.toMatchObject({
        later: { reason: 'bad-url' },
      });
  });
});

test('requests are counted by operation and status', () => {
  const usage = createGerritUsage();
  usage.asked('changes/detail', 200);
  usage.asked('changes/detail', 200);
  usage.asked('changes/detail', null);
  expect(usage.now()).toEqual({
    requests: [
      { operation: 'changes/detail', status: '200', count: 2 },
      { operation: 'changes/detail', status: 'none', count: 1 },
    ],
    budgets: [],
    closedReports: 0,
  });
});

test('the stream is part of the usage while this process reads it', () => {
  const usage = createGerritUsage();
  const stream = { connected: true, lastLineAt: null, gaps: 1 };
  usage.streamed(stream);
  expect(usage.now().stream).toEqual(stream);
  usage.streamed(undefined);
  expect(usage.now().stream).toBeUndefined();
});

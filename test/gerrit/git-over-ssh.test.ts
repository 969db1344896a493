/** git's reads over SSH: over a connection that is kept, and by git where that is not served. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { fileOfThisMachine } from '../../drivers/gerrit/ssh/ssh-place.ts';
import { createSshSession, type SshSession } from '../../drivers/gerrit/ssh/ssh-session.ts';
import { uploadPackOf } from '../../drivers/gerrit/ssh/upload-pack.ts';
import { parseObjectId } from '../../src/git/objects/object-id.ts';
import { parseRefName } from '../../src/git/objects/ref-name.ts';
import { createGit } from '../../src/git/process/git.ts';
import type { AskUploadPack, Remote } from '../../src/git/process/remote.ts';
import { sshEnvironment } from '../../src/git/process/ssh.ts';
import { openRepositoryCache } from '../../src/git/repository-cache.ts';
import { startAside } from '../../src/git/starter/start-aside.ts';
import { createUploadPackHost } from '../../src/git/wire/upload-pack-host.ts';
import { startFakeGerrit } from './fake/fake-gerrit.ts';
import { currentPatchSet, type FakeChange } from './fake/world.ts';

const MASTER = { ref: parseRefName('refs/heads/master') };
const { signal } = new AbortController();

async function opened() {
  const stack = new AsyncDisposableStack();
  onTestFinished(() => stack.disposeAsync());
  const root = await mkdtemp(path.join(tmpdir(), 'gatehouse-git-over-ssh-'));
  stack.defer(() => rm(root, { recursive: true, force: true }));
  const gerrit = stack.use(await startFakeGerrit());
  await gerrit.project('acme/app');
  const { port, keyFile, knownHostsFile, ssh } = await gerrit.openSsh();
  const place = { host: '127.0.0.1', port, user: 'gatehouse', key: keyFile, knownHosts: [knownHostsFile] };
  const session = createSshSession({
    ...{ place: { ...place, keepAlive: 15 }, readFile: fileOfThisMachine, mostBytes: 100_000 },
  });
  stack.defer(() => session.close());
  const git = createGit({ identity: { name: 'CI', email: 'ci@example.org' }, start: startAside });
  const cache = stack.use(await openRepositoryCache({ root, git, mergeTreeMode: 'unbuffered-coprocess' }));
  const remote: Remote = {
    url: `ssh://gatehouse@127.0.0.1:${port}/acme/app`,
    environment: sshEnvironment({ keyFile, knownHostsFile }),
  };
  const mirror = await cache.repository('gerrit', 'acme/app');
  return {
    gerrit,
    ssh,
    session,
    remote,
    fetch: (at: Remote, wants: Parameters<typeof mirror.fetch>[1]) => mirror.fetch(at, wants),
  };
}

function asking(session: SshSession): AskUploadPack {
  return uploadPackOf(session, 'acme/app') ?? expect.unreachable('a plain name');
}

function wanted({ now, number }: FakeChange) {
  const commit = parseObjectId(currentPatchSet(now).commit);
  return { ref: parseRefName(`refs/changes/${String(number).padStart(2, '0')}/${number}/1`), commit };
}

test('changes and their branch come over one connection, and git starts no ssh', async () => {
  const { gerrit, ssh, session, remote, fetch } = await opened();
  await fetch(remote, [MASTER]);
  const from = ssh.network.accepted();
  const kept = { ...remote, environment: { GIT_SSH_COMMAND: 'false' }, askUploadPack: asking(session) };
  for (const name of ['a', 'b', 'c']) {
    const change = await gerrit.push({ project: 'acme/app', files: { [name]: name } });
    const { commit } = wanted(change);
    expect(await fetch(kept, [MASTER, wanted(change)])).toMatchObject({
      kind: 'fetched',
      commits: [expect.any(String), commit],
    });
  }
  expect(ssh.network.accepted() - from).toBe(1);
});

test('an answer that is too large, and a host that breaks off, are left to git', async () => {
  const { gerrit, ssh, session, remote, fetch } = await opened();
  await fetch(remote, [MASTER]);
  const kept = { ...remote, askUploadPack: asking(session) };
  const noise = Array.from({ length: 20_000 }, (_, at) => Math.sin(at).toString(36)).join('\n');
  const large = await gerrit.push({ project: 'acme/app', files: { large: noise } });
  expect(await fetch(kept, [MASTER, wanted(large)])).toMatchObject({ kind: 'fetched' });
  await asking(session)('0000', { deadlineMs: 60_000, signal });
  const broken: AskUploadPack = async (question, bounds) => {
    const answer = asking(session)(question, bounds);
    ssh.network.drop();
    return await answer;
  };
  const change = await gerrit.push({ project: 'acme/app', files: { a: 'a' } });
  expect(await fetch({ ...remote, askUploadPack: broken }, [MASTER, wanted(change)])).toMatchObject({
    kind: 'fetched',
    commits: [expect.any(String), wanted(change).commit],
  });
});

test('a host without protocol 2 is not believed, one that keeps silent is left alone for a while', async () => {
  const host = createUploadPackHost({ proxied: true });
  onTestFinished(() => host.close());
  const remote: Remote = { url: 'ssh://ci@review.example.org:29418/acme/app' };
  const old: Remote = { ...remote, askUploadPack: async () => Buffer.from('003f1234 HEAD\n0000') };
  expect(host.canAsk(remote)).toBe(false);
  expect(await host.refs(old, [MASTER.ref])).toBeUndefined();
  expect(host.canAsk(old)).toBe(true);
  const silent: Remote = { ...remote, askUploadPack: async () => 'failed' };
  expect(await host.refs(silent, [MASTER.ref])).toBeUndefined();
  expect(host.canAsk(old)).toBe(false);
  const elsewhere = { ...old, url: 'ssh://ci@other.example.org:29418/acme/app' };
  expect(host.canAsk(elsewhere)).toBe(true);
});

test('a name that a shell would take apart is asked for by git alone', () => {
  const session: SshSession = { run: () => expect.unreachable('nothing is asked'), close() {} };
  expect(uploadPackOf(session, "acme/it's")).toBeUndefined();
  expect(uploadPackOf(session, 'acme/a\\b')).toBeUndefined();
});

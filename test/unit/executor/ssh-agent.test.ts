/** The ssh agent of a build: jobs sign with the key of their project after review and never have it, and add keys of their own. */
import { createPublicKey, generateKeyPairSync, type KeyObject, verify } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, stat, symlink } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import ssh2 from 'ssh2';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { agentKeys } from '../../../src/executor/ssh-agent/agent-keys.ts';
import { sshText, sshWhole } from '../../../src/executor/ssh-agent/agent-wire.ts';
import { AGENT_SOCKET, openBuildAgent } from '../../../src/executor/ssh-agent/build-agent.ts';
import { readZuulKeys } from '../../../src/store/keystore/zuul-keys.ts';
import { KEYSTORE_PASSWORD, SSH_PUBLIC_KEY, ZUUL_KEYS } from '../../fake/project-keys.ts';
import { describeOnBubblewrap } from '../../setup/bubblewrap.ts';
import { ON_OPENSSH } from '../../setup/provided.ts';
import { buildRequest, openBench, PROJECT, script } from './fixture.ts';

const read = readZuulKeys(ZUUL_KEYS, KEYSTORE_PASSWORD);
const key: KeyObject | undefined = read.kind === 'keys' ? read.projects[0]?.keys.ssh?.key : undefined;
if (key === undefined) throw new Error('the fixture has no ssh key');
const sshKeys = { read: async () => ({ ssh: { key } }) };
const [, BLOB = ''] = SSH_PUBLIC_KEY.split(' ');

async function openAgent() {
  // Longer than the name of a socket may be.
  const info = await mkdtemp(path.join(tmpdir(), `gatehouse-agent-${'x'.repeat(90)}-`));
  const folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-agent-'));
  const agent = await openBuildAgent({ sshKeyOf: PROJECT }, { info }, null, sshKeys);
  if (agent.kind !== 'open') throw new Error(agent.kind);
  onTestFinished(async () => {
    if (existsSync(path.join(info, AGENT_SOCKET))) await agent.close();
    for (const each of [info, folder]) await rm(each, { recursive: true, force: true });
  });
  const socket = path.join(info, AGENT_SOCKET);
  // As the job, which sees a short name.
  const link = path.join(folder, 'info');
  await symlink(info, link);
  return { agent, socket, seen: path.join(link, AGENT_SOCKET) };
}

async function answerOf(seen: string, request: Buffer): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const parts: Buffer[] = [];
  const socket = connect(seen, () => socket.end(request));
  socket.on('data', bytes => parts.push(bytes)).on('error', reject);
  socket.on('close', () => resolve(Buffer.concat(parts)));
  return promise;
}

function signatureOf(
  client: ReturnType<typeof ssh2.createAgent>,
  blob: Buffer,
  data: Buffer,
  hash: 'sha256' | 'sha512',
): Promise<Buffer> {
  return new Promise((resolve, reject) =>
    client.sign(blob, data, { hash }, (error, made) =>
      error || made === undefined ? reject(error) : resolve(made),
    ),
  );
}

function framed(...content: readonly Buffer[]): Buffer {
  return sshText(Buffer.concat(content));
}

const DONE = framed(Buffer.from([6]));
const REFUSED = framed(Buffer.from([5]));

/** As `ssh-add` sends it. @param change to each number. */
function addedRsa(added: KeyObject, change = (bytes: Buffer) => bytes): readonly Buffer[] {
  const { n = '', e = '', d = '', qi = '', p = '', q = '' } = added.export({ format: 'jwk' });
  const numbers = [n, e, d, qi, p, q].map(each => change(Buffer.from(each, 'base64url')));
  const padded = numbers.map(each => ((each[0] ?? 0) > 127 ? Buffer.concat([Buffer.from([0]), each]) : each));
  return [sshText('ssh-rsa'), ...padded.map(sshText), sshText('of the job')];
}

/** @returns also its public key. */
function addedEd25519(added: KeyObject): readonly [request: readonly Buffer[], blob: Buffer] {
  const { x = '', d = '' } = added.export({ format: 'jwk' });
  const open = Buffer.from(x, 'base64url');
  const both = Buffer.concat([Buffer.from(d, 'base64url'), open]);
  const type = sshText('ssh-ed25519');
  return [[type, sshText(open), sshText(both), sshText('of the job')], Buffer.concat([type, sshText(open)])];
}

describe('the agent of a build', () => {
  test('lists the key of the project, and signs with it in each way that ssh asks for', async () => {
    const { seen, socket } = await openAgent();
    expect((await stat(socket)).mode & 0o777).toBe(0o600);
    const client = ssh2.createAgent(seen);
    const listed = await new Promise<readonly { type: string; getPublicSSH(): Buffer }[]>((resolve, reject) =>
      client.getIdentities((error, keys) =>
        error
          ? reject(error)
          : resolve(keys as unknown as readonly { type: string; getPublicSSH(): Buffer }[]),
      ),
    );
    expect(listed.map(each => each.getPublicSSH().toString('base64'))).toEqual([BLOB]);
    for (const hash of ['sha256', 'sha512'] as const) {
      const data = Buffer.from('what ssh signs');
      const signature = await signatureOf(client, Buffer.from(BLOB, 'base64'), data, hash);
      expect(verify(hash, data, createPublicKey(key), signature)).toBe(true);
    }
  });

  test('takes keys of the job and signs with them, removes what it is asked to, and forgets what was added since a mark', async () => {
    const { agent, seen } = await openAgent();
    const ask = (type: number, ...content: readonly Buffer[]) =>
      answerOf(seen, framed(Buffer.from([type]), ...content));
    const blobs = async () => {
      const answer = await ask(11);
      return answer.readUInt32BE(5);
    };
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    const ed25519 = generateKeyPairSync('ed25519').privateKey;
    expect(await ask(17, ...addedRsa(rsa))).toEqual(DONE);
    const forget = agent.markKeys();
    const [ed, blob] = addedEd25519(ed25519);
    expect(await ask(17, ...ed)).toEqual(DONE);
    expect(await ask(17, ...ed)).toEqual(DONE);
    expect(await blobs()).toBe(3);
    const data = Buffer.from('what ssh signs');
    const signature = await signatureOf(ssh2.createAgent(seen), blob, data, 'sha256');
    expect(verify(null, data, createPublicKey(ed25519), signature)).toBe(true);
    forget();
    expect(await blobs()).toBe(2);
    expect(await ask(18, sshText(blob))).toEqual(REFUSED);
    expect(await ask(18, sshText(Buffer.from(BLOB, 'base64')))).toEqual(DONE);
    expect(await blobs()).toBe(1);
    const [type = data, n = data] = addedRsa(rsa);
    for (const broken of [[type], [type, n], [sshText('ssh-dss'), n], addedRsa(rsa, () => Buffer.from([1]))])
      expect(await ask(17, ...broken)).toEqual(REFUSED);
    expect(await ask(19)).toEqual(DONE);
    expect(await blobs()).toBe(0);
    for (let each = 0; each < 32; each++)
      expect(await ask(17, ...addedEd25519(generateKeyPairSync('ed25519').privateKey)[0])).toEqual(DONE);
    expect(await ask(17, ...ed)).toEqual(REFUSED);
  });

  test('signs one after the other, in the order asked for, also after a signature that failed', async () => {
    const events: string[] = [];
    const blob = Buffer.from('key');
    const keys = agentKeys([
      {
        blob,
        comment: 'slow',
        async sign(data) {
          events.push(`begin ${data}`);
          await new Promise(resolve => setImmediate(resolve));
          events.push(`end ${data}`);
          if (String(data) === 'b') throw new Error('no signature');
          return { algorithm: 'made-up', signature: data };
        },
      },
    ]);
    const ask = (data: string) => keys.sign(blob, Buffer.from(data), 0);
    const asked = await Promise.allSettled([ask('a'), ask('b'), ask('c')]);
    expect(asked.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(events).toEqual(['begin a', 'end a', 'begin b', 'end b', 'begin c', 'end c']);
    expect(await keys.sign(Buffer.from('other'), Buffer.from('d'), 0)).toBeUndefined();
  });

  test('answers what it does not do with a failure, goes on after it, and hangs up on what is no request', async () => {
    const { seen } = await openAgent();
    const extension = framed(Buffer.from([27]), sshWhole(4), Buffer.from('bind'), Buffer.alloc(40, 11));
    const addKey = framed(Buffer.from([17]), sshWhole(1_000_000));
    const otherKey = framed(Buffer.from([13]), sshWhole(3), Buffer.from('abc'), sshWhole(0), sshWhole(2));
    const list = framed(Buffer.from([11]));
    const answer = await answerOf(seen, Buffer.concat([extension, addKey, otherKey, list]));
    expect(answer.subarray(0, 15)).toEqual(Buffer.concat([REFUSED, REFUSED, REFUSED]));
    expect(answer[19]).toBe(12);
    expect(await answerOf(seen, Buffer.concat([sshWhole(0x7fff_ffff), Buffer.from('a')]))).toHaveLength(0);
    expect(await answerOf(seen, sshWhole(0))).toHaveLength(0);
  });

  test('reads no more than it can answer: a job that takes no answers fills no memory', async () => {
    const { seen } = await openAgent();
    const list = Buffer.from([0, 0, 0, 1, 11]);
    const { length } = await answerOf(seen, list);
    const flood = connect(seen);
    flood.pause();
    const count = 200_000;
    flood.write(Buffer.alloc(list.length * count, list));
    for (let round = 0; round < 200 && flood.writableLength > 0; round++) await answerOf(seen, list);
    expect(flood.writableLength).toBeGreaterThan(0);
    let answered = 0;
    const { promise, resolve } = Promise.withResolvers<void>();
    flood.on('data', bytes => {
      answered += bytes.length;
      if (answered === count * length) resolve();
    });
    flood.resume();
    await promise;
    flood.destroy();
  });

  test('is gone when the build has ended, with its connections', async () => {
    const { agent, socket, seen } = await openAgent();
    const { promise, resolve } = Promise.withResolvers<void>();
    const open = connect(seen).on('close', () => resolve());
    await new Promise(connected => open.on('connect', connected));
    await agent.close();
    await promise;
    expect(existsSync(socket)).toBe(false);
  });

  test('has no key of a project before review, of one without a key, and without a keystore', async () => {
    const none = { read: async () => undefined };
    for (const [request, keys] of [
      [{}, sshKeys],
      [{ sshKeyOf: PROJECT }, undefined],
      [{ sshKeyOf: PROJECT }, none],
    ] as const) {
      const info = await mkdtemp(path.join(tmpdir(), 'gatehouse-agent-'));
      onTestFinished(() => rm(info, { recursive: true, force: true }));
      const agent = await openBuildAgent(request, { info }, null, keys);
      const listed = await answerOf(path.join(info, AGENT_SOCKET), framed(Buffer.from([11])));
      expect(listed).toEqual(framed(Buffer.from([12]), sshWhole(0)));
      if (agent.kind === 'open') await agent.close();
    }
    const places = { info: '/nowhere' };
    const broken = { read: () => Promise.reject(new Error('the key is damaged')) };
    expect(await openBuildAgent({ sshKeyOf: PROJECT }, places, null, broken)).toMatchObject({
      kind: 'unavailable',
      reason: expect.stringContaining('the key is damaged'),
    });
  });
});

const USE = script(`ssh-add -L
cd "$HOME" && ssh-add -L >key.pub && echo text >file
ssh-keygen -q -Y sign -f key.pub -n file file
echo "me $(cat key.pub)" >allowed
ssh-keygen -Y verify -f allowed -I me -n file -s file.sig <file
stat -c 'socket %a' "$SSH_AUTH_SOCK"
if echo x 2>/dev/null >"$SSH_AUTH_SOCK"; then echo WRITTEN; fi
ssh-keygen -q -t rsa -N '' -f own && ssh-add -q own && ssh-add -l | wc -l && rm own && ssh-add -qD
grep -rls 'PRIVATE KEY' / --exclude-dir=usr --exclude-dir=proc --exclude-dir=sys --exclude-dir=etc --exclude-dir=src --exclude-dir=playbooks --exclude-dir=git || echo NO-KEY-FOUND
cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep -c PRIVATE || true`);
const FILES = {
  'ci/use.sh': USE,
  'ci/without.sh': script('ssh-add -l || test $? -eq 1'),
};

describeOnBubblewrap('a build after review, in the sandbox', () => {
  test.skipIf(inject('openSsh').kind === 'none')(
    `signs with its tools, and finds no key ${ON_OPENSSH}`,
    async () => {
      await using bench = await openBench({ sandbox: 'bubblewrap' }, { sshKeys });
      await chmod(bench.folder, 0o755);
      const commit = await bench.commit(FILES);
      const request = buildRequest(commit, { run: ['ci/use.sh'] });
      const { result, log } = await bench.submit({ ...request, sshKeyOf: PROJECT }).ended;
      expect(result.result, log).toBe('SUCCESS');
      expect(log).toContain(`${SSH_PUBLIC_KEY} acme/app`);
      expect(log).toContain('Good "file" signature for me');
      expect(log).toContain('socket 600');
      expect(log).toContain('NO-KEY-FOUND');
      expect(log).toMatch(/\| 2$/m);
      expect(log).not.toContain('WRITTEN');
      const secret = key.export({ format: 'jwk' });
      for (const part of [secret.d, secret.p, secret.q])
        expect(JSON.stringify(result) + log).not.toContain(part);
    },
  );

  test.skipIf(inject('openSsh').kind === 'none')(
    `and one before review has no key ${ON_OPENSSH}`,
    async () => {
      await using bench = await openBench({ sandbox: 'bubblewrap' }, { sshKeys });
      const commit = await bench.commit(FILES);
      const { result, log } = await bench.submit(buildRequest(commit, { run: ['ci/without.sh'] })).ended;
      expect(result.result, log).toBe('SUCCESS');
      expect(log).toContain('The agent has no identities');
    },
  );
});

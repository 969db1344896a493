/** The ssh key of a project for its builds after review: jobs sign with it, and never have it. */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, stat, symlink } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import ssh2 from 'ssh2';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
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
      const signature = await new Promise<Buffer>((resolve, reject) =>
        client.sign(Buffer.from(BLOB, 'base64'), data, { hash }, (error, made) =>
          error || made === undefined ? reject(error) : resolve(made),
        ),
      );
      expect(verify(hash, data, createPublicKey(key), signature)).toBe(true);
    }
  });

  test('answers what it does not do with a failure, goes on after it, and hangs up on what is no request', async () => {
    const { seen } = await openAgent();
    const whole = (value: number) => {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(value);
      return bytes;
    };
    const request = (...content: readonly Buffer[]) => {
      const message = Buffer.concat(content);
      return Buffer.concat([whole(message.length), message]);
    };
    const failure = request(Buffer.from([5]));
    const extension = request(Buffer.from([27]), whole(4), Buffer.from('bind'), Buffer.alloc(40, 11));
    const addKey = request(Buffer.from([17]), whole(1_000_000));
    const otherKey = request(Buffer.from([13]), whole(3), Buffer.from('abc'), whole(0), whole(2));
    const list = request(Buffer.from([11]));
    const answer = await answerOf(seen, Buffer.concat([extension, addKey, otherKey, list]));
    expect(answer.subarray(0, 15)).toEqual(Buffer.concat([failure, failure, failure]));
    expect(answer[19]).toBe(12);
    expect(await answerOf(seen, Buffer.concat([whole(0x7fff_ffff), Buffer.from('a')]))).toHaveLength(0);
    expect(await answerOf(seen, whole(0))).toHaveLength(0);
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

  test('is not there for a build that runs before review, for a project without a key, and without a keystore', async () => {
    const places = { info: '/nowhere' };
    expect(await openBuildAgent({}, places, null, sshKeys)).toEqual({ kind: 'none' });
    expect(await openBuildAgent({ sshKeyOf: PROJECT }, places, null, undefined)).toEqual({ kind: 'none' });
    expect(
      await openBuildAgent({ sshKeyOf: PROJECT }, places, null, { read: async () => undefined }),
    ).toEqual({ kind: 'none' });
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
if ssh-add -D 2>&1; then echo DELETED; fi
if echo x 2>/dev/null >"$SSH_AUTH_SOCK"; then echo WRITTEN; fi
grep -rls 'PRIVATE KEY' / --exclude-dir=usr --exclude-dir=proc --exclude-dir=sys --exclude-dir=etc --exclude-dir=src --exclude-dir=playbooks --exclude-dir=git || echo NO-KEY-FOUND
cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep -c PRIVATE || true`);
const FILES = {
  'ci/use.sh': USE,
  'ci/without.sh': script(`echo "agent: \${SSH_AUTH_SOCK:-none}"; test ! -e /gatehouse/ssh-agent`),
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
      expect(log).not.toContain('DELETED');
      expect(log).not.toContain('WRITTEN');
      const secret = key.export({ format: 'jwk' });
      for (const part of [secret.d, secret.p, secret.q])
        expect(JSON.stringify(result) + log).not.toContain(part);
    },
  );

  test('and one before review gets none', async () => {
    await using bench = await openBench({ sandbox: 'bubblewrap' }, { sshKeys });
    const commit = await bench.commit(FILES);
    const { result, log } = await bench.submit(buildRequest(commit, { run: ['ci/without.sh'] })).ended;
    expect(result.result, log).toBe('SUCCESS');
    expect(log).toContain('agent: none');
  });
});

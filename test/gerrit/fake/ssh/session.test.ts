/** Commands over a kept connection, against a real SSH server. */
import { readFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import { createSshSession, type SshSession } from '../../../../drivers/gerrit/ssh/ssh-session.ts';
import { type FakeSsh, type FakeSshDeps, newKeyPair, startFakeSsh } from './fake-ssh.ts';

const pair = newKeyPair('ecdsa');
const signal = new AbortController().signal;
const LATE = 60_000;

async function open(
  commands: FakeSshDeps['commands'],
  facts: { readonly mostBytes?: number; readonly idleMs?: number } = {},
): Promise<{ readonly ssh: FakeSsh; readonly session: SshSession } & AsyncDisposable> {
  const ssh = await startFakeSsh({
    account: name => (name === 'ci' ? { keys: [pair.public], mayStream: false } : undefined),
    ...(commands === undefined ? {} : { commands }),
  });
  const files: { readonly [path: string]: string } = { key: pair.private, hosts: ssh.knownHosts };
  const place = {
    host: '127.0.0.1',
    port: ssh.port,
    user: 'ci',
    key: 'key',
    knownHosts: ['hosts'],
    keepAlive: 15,
  };
  const session = createSshSession({
    place,
    readFile: async path => (path in files ? Buffer.from(files[path] ?? '') : readFile(path)),
    mostBytes: 1_000,
    ...facts,
  });
  return {
    ssh,
    session,
    async [Symbol.asyncDispose]() {
      session.close();
      await ssh[Symbol.asyncDispose]();
    },
  };
}

const run = (session: SshSession, line: string, deadlineMs = LATE, input?: string) =>
  session.run({ line, deadlineMs, ...(input === undefined ? {} : { input }) }, signal);

describe('commands over SSH', () => {
  test('share one connection, at a time and one after the other', async () => {
    await using world = await open({ echo: (args, _name, input) => ({ out: `${args}${input}`, code: 0 }) });
    const { session, ssh } = world;
    const ran = await Promise.all(['a', 'b', 'c'].map(word => run(session, `gerrit echo ${word}`)));
    expect(ran.map(each => each.kind === 'ran' && each.output.toString())).toEqual(['a', 'b', 'c']);
    const written = await run(session, 'gerrit echo --json', LATE, '{"x":1}');
    expect(written).toMatchObject({ kind: 'ran', code: 0, output: Buffer.from('--json{"x":1}') });
    expect(ssh.network.accepted()).toBe(1);
  });

  test('leave at once, without waiting for the answer to the packet before', async () => {
    const settings = vi.spyOn(Socket.prototype, 'setNoDelay');
    try {
      await using world = await open({ fine: () => ({ code: 0 }) });
      await run(world.session, 'gerrit fine');
      const ours = settings.mock.contexts.flatMap((socket, call) =>
        socket instanceof Socket && socket.remotePort === world.ssh.port ? settings.mock.calls[call] : [],
      );
      expect(ours).toEqual([true]);
    } finally {
      settings.mockRestore();
    }
  });

  test('end with their status and what they complained of', async () => {
    await using world = await open({ fail: () => ({ err: 'error: no\n', code: 1 }) });
    expect(await run(world.session, 'gerrit fail')).toMatchObject({
      kind: 'ran',
      code: 1,
      complaint: 'error: no\n',
    });
  });

  test('of a connection that breaks may have been carried out, and the next one connects again', async () => {
    await using world = await open({
      hang: () => new Promise(() => {}),
      break: () => ({ code: null }),
      fine: () => ({ code: 0 }),
    });
    const { session, ssh } = world;
    const hanging = run(session, 'gerrit hang');
    expect(await run(session, 'gerrit break')).toMatchObject({ kind: 'silent', isSent: true });
    expect(await hanging).toMatchObject({ kind: 'silent', reason: 'unreachable', isSent: true });
    expect(await run(session, 'gerrit fine')).toMatchObject({ kind: 'ran', code: 0 });
    expect(ssh.network.accepted()).toBe(2);
  });

  test('that answer too late or too much are given up, and others go on', async () => {
    await using world = await open({
      hang: () => new Promise(() => {}),
      flood: () => ({ out: 'x'.repeat(2_000), code: 0 }),
      fine: () => ({ out: 'y', code: 0 }),
    });
    const { session } = world;
    expect(await run(session, 'gerrit hang', 1)).toMatchObject({ kind: 'silent', reason: 'timeout' });
    expect(await run(session, 'gerrit flood')).toMatchObject({ kind: 'silent', reason: 'too-large' });
    expect(await run(session, 'gerrit fine')).toMatchObject({ kind: 'ran', code: 0 });
  });

  test('are not begun where the host is away or does not take the key', async () => {
    await using world = await open({});
    world.ssh.network.refuse(true);
    const away = await run(world.session, 'gerrit fine');
    expect(away).toMatchObject({ kind: 'silent', reason: 'unreachable', isSent: false });
  });

  test('that their caller gives up end at once', async () => {
    await using world = await open({ hang: () => new Promise(() => {}) });
    const stop = new AbortController();
    const hanging = world.session.run({ line: 'gerrit hang', deadlineMs: LATE }, stop.signal);
    stop.abort(new Error('given up'));
    await expect(hanging).rejects.toThrow('given up');
  });

  test('leave no connection open when none has come for a while', async () => {
    await using world = await open({ fine: () => ({ code: 0 }) }, { idleMs: 1 });
    await run(world.session, 'gerrit fine');
    while (world.ssh.network.open() > 0) await new Promise(resolve => setImmediate(resolve));
    expect(await run(world.session, 'gerrit fine')).toMatchObject({ kind: 'ran' });
    expect(world.ssh.network.accepted()).toBe(2);
  });
});

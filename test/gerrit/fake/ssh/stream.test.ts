/** The event stream against a real SSH server: what is read, how a connection ends, and what is said then. */
import { getEventListeners, once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { readEventStream, type StreamEnd } from '../../../../drivers/gerrit/intake/stream.ts';
import type { SshPlace } from '../../../../drivers/gerrit/ssh/ssh-place.ts';
import { type FakeSsh, newKeyPair, type SshAccount, startFakeSsh } from './fake-ssh.ts';

const pair = newKeyPair('ecdsa');
const accounts: { readonly [name: string]: SshAccount } = {
  gatehouse: { keys: [pair.public], mayStream: true },
  plain: { keys: [pair.public], mayStream: false },
};
const start = () => startFakeSsh({ account: name => accounts[name] });

interface Reading {
  readonly lines: readonly string[];
  readonly tooLong: () => number;
  readonly end: Promise<StreamEnd>;
  readonly stop: AbortController;
  opened(): Promise<void>;
  /** Resolves with the first `count` lines. */
  has(count: number): Promise<readonly string[]>;
}

function read(ssh: FakeSsh, facts: Partial<SshPlace> = {}, files: { [path: string]: string } = {}): Reading {
  const lines: string[] = [];
  const stop = new AbortController();
  const opened = Promise.withResolvers<void>();
  const waiting = new Set<() => void>();
  let tooLong = 0;
  const all: { [path: string]: string } = { '/key': pair.private, '/known': ssh.knownHosts, ...files };
  const readFile = async (path: string) => (all[path] === undefined ? undefined : Buffer.from(all[path]));
  const place = { host: '127.0.0.1', port: ssh.port, user: 'gatehouse', key: '/key' };
  const end = readEventStream(
    { ...place, knownHosts: ['/known'], keepAlive: 15, ...facts },
    {
      opened: opened.resolve,
      line: async text => {
        lines.push(text);
        for (const wake of waiting) wake();
      },
      tooLong: count => {
        tooLong += count;
      },
    },
    readFile,
    stop.signal,
  );
  return {
    ...{ lines, end, stop, tooLong: () => tooLong },
    opened: () => opened.promise,
    async has(count) {
      while (lines.length < count) {
        const { promise, resolve } = Promise.withResolvers<void>();
        waiting.add(resolve);
        await promise;
      }
      return lines.slice(0, count);
    },
  };
}

async function streaming(ssh: FakeSsh, facts: Partial<SshPlace> = {}): Promise<Reading> {
  const reading = read(ssh, facts);
  await reading.opened();
  await until(() => ssh.streams() === 1);
  return reading;
}

/** The server enters the stream in its list just after it has accepted the command. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise(resolve => setImmediate(resolve));
}

const event = (number: number) => ({ type: 'comment-added', number });
const lineOf = (number: number) => JSON.stringify(event(number));

describe('an event stream', () => {
  test('is read line by line, and ends at once when it is aborted', async () => {
    await using ssh = await start();
    const reading = await streaming(ssh);
    for (const number of [1, 2, 3]) ssh.send(event(number));
    expect(await reading.has(3)).toEqual([1, 2, 3].map(lineOf));
    reading.stop.abort();
    expect(await reading.end).toEqual({ kind: 'aborted', text: 'aborted' });
    expect(getEventListeners(reading.stop.signal, 'abort')).toEqual([]);
    await until(() => ssh.network.open() === 0);
  });

  test('joins half lines, and passes on garbage for others to judge', async () => {
    await using ssh = await start();
    const reading = await streaming(ssh);
    ssh.stream.halve();
    ssh.send(event(1));
    ssh.send(event(2));
    ssh.stream.whole();
    ssh.sendRaw('no json\n');
    expect(await reading.has(3)).toEqual([lineOf(1), lineOf(2), 'no json']);
    reading.stop.abort();
    await reading.end;
  });

  test('comes doubled and swapped by script', async () => {
    await using ssh = await start();
    const reading = await streaming(ssh);
    ssh.stream.double(1);
    ssh.send(event(1));
    ssh.stream.swap();
    ssh.send(event(2));
    ssh.send(event(3));
    expect(await reading.has(4)).toEqual([1, 1, 3, 2].map(lineOf));
    reading.stop.abort();
    await reading.end;
  });

  test('leaves out a line of more than a megabyte', async () => {
    await using ssh = await start();
    const reading = await streaming(ssh);
    ssh.sendRaw(`${'x'.repeat(1024 * 1024 + 1)}\n`);
    ssh.send(event(1));
    expect(await reading.has(1)).toEqual([lineOf(1)]);
    expect(reading.tooLong()).toBe(1);
    reading.stop.abort();
    await reading.end;
  });

  test('waits with the next line until one is taken', async () => {
    await using ssh = await start();
    const taken: string[] = [];
    const gate = Promise.withResolvers<void>();
    const opened = Promise.withResolvers<void>();
    const files: { [path: string]: string } = { '/key': pair.private, '/known': ssh.knownHosts };
    const stop = new AbortController();
    const end = readEventStream(
      {
        host: '127.0.0.1',
        port: ssh.port,
        user: 'gatehouse',
        key: '/key',
        knownHosts: ['/known'],
        keepAlive: 15,
      },
      {
        opened: opened.resolve,
        tooLong: () => {},
        async line(text) {
          taken.push(text);
          if (taken.length === 1) await gate.promise;
          else stop.abort();
        },
      },
      async path => (files[path] === undefined ? undefined : Buffer.from(files[path])),
      stop.signal,
    );
    await opened.promise;
    await until(() => ssh.streams() === 1);
    ssh.send(event(1));
    ssh.send(event(2));
    await until(() => taken.length === 1);
    gate.resolve();
    await end;
    expect(taken).toEqual([1, 2].map(lineOf));
  });
});

test('an attempt ends at once when it is aborted, while the host says nothing', async () => {
  const server = createServer(socket => socket.on('error', () => {}));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const stop = new AbortController();
  const connected = once(server, 'connection');
  const end = readEventStream(
    { host: '127.0.0.1', port, user: 'x', key: '/key', knownHosts: ['/none'], keepAlive: 15 },
    { opened() {}, async line() {}, tooLong() {} },
    async path => (path === '/key' ? Buffer.from(pair.private) : undefined),
    stop.signal,
  );
  await connected;
  stop.abort();
  expect(await end).toMatchObject({ kind: 'aborted' });
  server.close();
});

describe('the end of a stream', () => {
  test.each<[string, (ssh: FakeSsh) => void]>([
    ['when the connection breaks', ssh => ssh.network.drop()],
    ['when Gerrit is restarted', ssh => ssh.endStreams()],
  ])('is seen %s', async (_, cut) => {
    await using ssh = await start();
    const reading = await streaming(ssh);
    cut(ssh);
    expect(await reading.end).toMatchObject({ kind: 'closed' });
  });

  test('is seen when the host answers no keep-alive message', async () => {
    await using ssh = await start();
    const reading = await streaming(ssh, { keepAlive: 0.05 });
    ssh.network.silence();
    expect(await reading.end).toEqual({ kind: 'closed', text: 'Keepalive timeout' });
  });
});

describe('no stream', () => {
  test('is there while Gerrit refuses connections', async () => {
    await using ssh = await start();
    ssh.network.refuse(true);
    expect(await read(ssh).end).toMatchObject({ kind: 'unreachable' });
  });

  test.each<[string, Partial<SshPlace>, { [path: string]: string }, RegExp]>([
    [
      'for an account without the capability',
      { user: 'plain' },
      {},
      /^stream events not permitted: give the account/,
    ],
    [
      'for an unknown account',
      { user: 'mallory' },
      {},
      /does not accept the key of mallory: add its public half/,
    ],
    ['for an unknown key', {}, { '/key': newKeyPair().private }, /does not accept the key of gatehouse/],
    ['without a key', { key: '/none' }, {}, /^cannot read the key \/none: there is no such file/],
    ['with a key that is none', {}, { '/key': 'hunter2' }, /^cannot use the private key: /],
    [
      'of an unknown host',
      {},
      { '/known': '' },
      /is not in \/known: compare .* ssh-keyscan -p \d+ 127\.0\.0\.1 >> \/known/,
    ],
    [
      'of an unknown host without a file',
      { knownHosts: ['/none'] },
      {},
      /SHA256:[\w+/]{43}\) is not in \/none/,
    ],
  ])('is there %s', async (_, facts, files, text) => {
    await using ssh = await start();
    const end = await read(ssh, facts, files).end;
    expect(end).toMatchObject({ kind: 'refused', text: expect.stringMatching(text) });
    expect(end.text).not.toMatch(/hunter2|PRIVATE KEY/);
  });

  test('is there when the host has another key than before', async () => {
    await using ssh = await start();
    const known = `[127.0.0.1]:${ssh.port} ${newKeyPair().public}`;
    expect(await read(ssh, {}, { '/known': known }).end).toMatchObject({
      kind: 'refused',
      text: expect.stringMatching(/is none of those in \/known: either the server's key was changed/),
    });
  });
});

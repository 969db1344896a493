/** What becomes of connections whose two sides do not trust each other. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ZooKeeperOptions } from '../../../../src/store/zookeeper/options.ts';
import { type Authority, makeAuthority } from '../../../fake/certificates.ts';
import { startZooKeeper, type ZooKeeperServer } from '../../../fake/zookeeper/server.ts';
import { describeOnZooKeeper } from '../../../setup/zookeeper.ts';
import { openSessions, outcome } from './open-sessions.ts';

describeOnZooKeeper('TLS', () => {
  let authority: Authority;
  let server: ZooKeeperServer;
  beforeAll(async () => {
    authority = makeAuthority('of the servers');
    server = await startZooKeeper({ tls: { ca: authority.cert, ...authority.issue('server') } });
  });
  afterAll(async () => await server?.[Symbol.asyncDispose]());

  const open = (tls: NonNullable<ZooKeeperOptions['tls']>) =>
    openSessions([{ host: 'localhost', port: server.tlsPort ?? 0 }], { tls, sessionTimeoutMs: 4000 });

  test('a server that others vouch for is refused at once, and for good', async () => {
    const tls = { ca: makeAuthority('of another site').cert, ...authority.issue('client') };
    await using sessions = open(tls);
    expect(await outcome(sessions.connect())).toBe('Auth');
    expect(sessions.log.lines.join('\n')).toContain('ZooKeeper refuses us');
  });

  test('a client that others vouch for is refused at once, and for good', async () => {
    const tls = { ca: authority.cert, ...makeAuthority('of another site').issue('client') };
    await using sessions = open(tls);
    expect(await outcome(sessions.connect())).toBe('Auth');
  });

  test('a port that speaks no TLS is tried again, and complained of once', async () => {
    const tls = { ca: authority.cert, ...authority.issue('client') };
    await using sessions = openSessions([server], { tls, sessionTimeoutMs: 1000 });
    await expect(sessions.connect(AbortSignal.timeout(1500))).rejects.toThrow('timeout');
    expect(sessions.log.lines.filter(line => line.startsWith('warn:')).length).toBeLessThan(3);
    expect(sessions.log.lines[0]).toBe('warn: Could not connect to ZooKeeper.');
  });

  test('a port that speaks nothing but TLS is tried again', async () => {
    const address = { host: 'localhost', port: server.tlsPort ?? 0 };
    await using sessions = openSessions([address], { sessionTimeoutMs: 1000 });
    await expect(sessions.connect(AbortSignal.timeout(1500))).rejects.toThrow('timeout');
    expect(sessions.log.lines[0]).toBe('warn: Could not connect to ZooKeeper.');
  });
});

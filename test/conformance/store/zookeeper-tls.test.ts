/** Sessions over TLS: the server knows us by our certificate and we know it by its own. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { create } from '../../../src/store/port.ts';
import { type Authority, makeAuthority } from '../../fake/certificates.ts';
import { startZooKeeper, type ZooKeeperServer } from '../../fake/zookeeper/server.ts';
import { describeOnZooKeeper } from '../../setup/zookeeper.ts';
import { freshRoot } from './fresh-root.ts';
import { openSource } from './zookeeper-sessions.ts';

describeOnZooKeeper('TLS', () => {
  let authority: Authority;
  let server: ZooKeeperServer;
  const address = () => ({ host: 'localhost', port: server.tlsPort ?? 0 });

  beforeAll(async () => {
    authority = makeAuthority('test authority');
    server = await startZooKeeper({ tls: { ca: authority.cert, ...authority.issue('server') } });
  });
  afterAll(async () => await server?.[Symbol.asyncDispose]());

  test('a session with the right certificate writes and reads', async () => {
    const tls = { ca: authority.cert, ...authority.issue('client') };
    await using source = openSource([address()], { tls });
    const store = await source.connect('test');
    const root = freshRoot();
    await store.multi([create(root, Buffer.from('x'))]);
    expect((await store.get(root))?.data).toEqual(new Uint8Array(Buffer.from('x')));
  });

  test('a session with a certificate of another authority fails, and so does one that trusts another authority', async () => {
    const other = makeAuthority('another authority');
    const stranger = { ca: authority.cert, ...other.issue('client') };
    const fooled = { ca: other.cert, ...authority.issue('client') };
    for (const tls of [stranger, fooled]) {
      await using source = openSource([address()], { tls });
      await expect(source.connect('test', AbortSignal.timeout(1500))).rejects.toThrow();
    }
  });
});

/** The suite on real ZooKeeper: straight, and through a proxy that behaves; then through one that cuts. */
import { type FaultProxy, startFaultProxy } from '../../fake/fault-proxy.ts';
import { describeOnZooKeeper, sharedZooKeeper } from '../../setup/zookeeper.ts';
import { type CuttableStore, describeReconnect } from './reconnect-suite.ts';
import { describeStore } from './suite.ts';
import { expireSession, openSource } from './zookeeper-sessions.ts';

describeOnZooKeeper('straight', () => {
  describeStore('ZooKeeper', {
    async open() {
      const server = sharedZooKeeper();
      const source = openSource([server]);
      return {
        connect: async () => await source.connect('conformance'),
        expire: async store => await expireSession(store, server),
        close: async () => await source[Symbol.asyncDispose](),
      };
    },
  });
});

describeOnZooKeeper('through a proxy', () => {
  describeStore('ZooKeeper behind a proxy', { open: async () => await openBehindProxy(10_000) });
  // Long: these are about connections, not about the end of sessions.
  describeReconnect('ZooKeeper', async () => await openBehindProxy(20_000));
});

async function openBehindProxy(sessionTimeoutMs: number): Promise<CuttableStore> {
  const server = sharedZooKeeper();
  const proxy: FaultProxy = await startFaultProxy(server);
  const source = openSource([proxy], { sessionTimeoutMs });
  const beside = openSource([server], { sessionTimeoutMs });
  return {
    connect: async () => await source.connect('conformance'),
    connectBeside: async () => await beside.connect('beside'),
    expire: async store => await expireSession(store, server),
    cut: () => proxy.cut(),
    away: () => proxy.set({ kind: 'refuse' }),
    back: () => proxy.set({ kind: 'pass' }),
    async close() {
      await Promise.all([source[Symbol.asyncDispose](), beside[Symbol.asyncDispose]()]);
      await proxy[Symbol.asyncDispose]();
    },
  };
}

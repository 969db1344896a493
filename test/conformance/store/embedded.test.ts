import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { describeStore, type StoreUnderTest } from './suite.ts';

function underTest(file: string, cleanUp: () => Promise<void>): StoreUnderTest {
  const server = openEmbeddedStore({ file });
  return {
    connect: async () => server.connect(),
    expire: async store => await server.expire(store.sessionId),
    close: async () => {
      await server.close();
      await cleanUp();
    },
  };
}

describeStore('embedded in memory', { open: async () => underTest(':memory:', async () => {}) });

describeStore('embedded in a file', {
  open: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-store-'));
    return underTest(join(folder, 'store.db'), async () => await rm(folder, { recursive: true }));
  },
});

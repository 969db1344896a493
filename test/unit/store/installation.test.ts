import { expect, test } from 'vitest';
import { isUuid, randomIds } from '../../../src/lib/ids.ts';
import { openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { installationId } from '../../../src/store/installation.ts';
import { storePaths } from '../../../src/store/paths.ts';
import { FaultyStore } from './faulty-store.ts';

test('all processes of an installation have one id, also when they ask at the same time and replies are lost', async () => {
  await using server = openEmbeddedStore({ file: ':memory:' });
  const stores = Array.from({ length: 3 }, () => new FaultyStore(server.connect()));
  stores[0]?.faults.push(undefined, 'lose-reply');
  const paths = storePaths('/gatehouse');
  const ids = await Promise.all(stores.map(store => installationId(store, paths, randomIds())));
  expect(new Set(ids).size).toBe(1);
  expect(ids.every(isUuid)).toBe(true);
  const other = await installationId(server.connect(), storePaths('/other'), randomIds());
  expect(other).not.toBe(ids[0]);
});

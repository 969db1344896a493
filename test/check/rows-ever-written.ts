import path from 'node:path';
import { openEmbeddedStore } from '../../src/store/embedded/server.ts';
import { ensureNode } from '../../src/store/ensure-node.ts';
import { storePaths } from '../../src/store/paths.ts';
import { create } from '../../src/store/port.ts';
import { stateOf } from '../scenario/site.ts';

/** Rows of spans a site that has been stopped wrote in its life, sent or not. @param root of the site. */
export async function rowsEverWritten(root: string): Promise<number> {
  await using server = openEmbeddedStore({ file: path.join(stateOf(root), 'store.sqlite') });
  const store = server.connect();
  const { spanOutbox } = storePaths('/gatehouse');
  await ensureNode(store, spanOutbox);
  // Rows are numbered without a gap, and numbers are never used again.
  const [made] = await store.multi([create(`${spanOutbox}/probe-`, new Uint8Array(), { sequential: true })]);
  return Number(made?.path?.slice(-10));
}

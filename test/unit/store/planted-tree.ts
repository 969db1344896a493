/** A small tree with everything that is hard to copy, and a reader of all of it. */
import { ensureNode } from '../../../src/store/ensure-node.ts';
import { create, remove, type Store, set } from '../../../src/store/port.ts';
import { readTree } from '../../../src/store/tree-copy.ts';

/** @param rows ever made in the outbox, of which the last 100 are there. */
export async function plantTree(store: Store, root: string, rows = 2500): Promise<void> {
  for (const path of [
    'tenants/ten%2Fant/lock',
    'outbox/spans',
    'components/web',
    'blobs',
    'requests/build/default/queue',
  ])
    await ensureNode(store, `${root}/${path}`);
  await store.multi([
    create(`${root}/tenants/ten%2Fant/epoch`),
    create(`${root}/tenants/ten%2Fant/layout`, Buffer.from('{"k":"layout","v":2,"d":{"name":"ä\u2028\\n"}}')),
    create(`${root}/tenants/ten%2Fant/lock/guid-`, undefined, { ephemeral: true, sequential: true }),
    create(`${root}/components/web/ci1-`, Buffer.from('{}'), { ephemeral: true, sequential: true }),
    create(`${root}/blobs/large`, Buffer.alloc(900_000, 'x')),
    create(`${root}/blobs/bytes`, Buffer.from([0, 0xff, 0xfe, 10, 13, 0xc3])),
    create(`${root}/blobs/0123456789`, Buffer.from('looks numbered')),
    create(`${root}/requests/build/default/queue/200-abc-`, Buffer.from('line\nline'), { sequential: true }),
  ]);
  for (let at = 0; at < 7; at++)
    await store.multi([set(`${root}/tenants/ten%2Fant/epoch`, Buffer.from(`${at}`))]);
  const made: string[] = [];
  for (let at = 0; at < rows; at += 500) {
    const some = Array.from({ length: Math.min(500, rows - at) }, (_, index) =>
      create(`${root}/outbox/spans/3-0-`, Buffer.from(`row ${at + index}`), { sequential: true }),
    );
    made.push(...(await store.multi(some)).map(({ path }) => path));
  }
  const gone = made.slice(0, -100);
  for (let at = 0; at < gone.length; at += 500)
    await store.multi(gone.slice(at, at + 500).map(path => remove(path)));
}

export interface Seen {
  readonly path: string;
  readonly data: string;
  readonly version: number;
  readonly ephemeral: boolean;
}

/** In an order of its own, because stores number the nodes of sessions differently. */
export async function everything(store: Store, root: string): Promise<readonly Seen[]> {
  const nodes = await Array.fromAsync(readTree(store, root));
  return nodes.map(node => ({ ...node, data: Buffer.from(node.data).toString('base64') }));
}

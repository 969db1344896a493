/** From the embedded store to a real ZooKeeper and back: not a byte differs, and numbers go on. */
import { expect, test } from 'vitest';
import { randomIds } from '../../../src/lib/ids.ts';
import { openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { create } from '../../../src/store/port.ts';
import { emptyTree, persistentNodes, readTree, writeTree } from '../../../src/store/tree-copy.ts';
import { describeOnZooKeeper, sharedZooKeeper } from '../../setup/zookeeper.ts';
import { everything, plantTree } from '../../unit/store/planted-tree.ts';
import { freshRoot } from './fresh-root.ts';
import { openSource } from './zookeeper-sessions.ts';

describeOnZooKeeper('copying between stores', () => {
  test('embedded to ZooKeeper to embedded gives the same tree, with numbers that go on', async () => {
    const root = freshRoot();
    await using one = openEmbeddedStore({ file: ':memory:' });
    await using last = openEmbeddedStore({ file: ':memory:' });
    await using source = openSource([sharedZooKeeper()]);
    const zookeeper = await source.connect('copy');
    const stores = [one.connect(), zookeeper, last.connect()] as const;
    await plantTree(stores[0], root);
    const expected = (await everything(stores[0], root)).filter(node => !node.ephemeral);
    for (const [from, to] of [
      [stores[0], stores[1]],
      [stores[1], stores[2]],
    ] as const) {
      await writeTree(to, root, persistentNodes(readTree(from, root)), randomIds());
      expect(await everything(to, root)).toEqual(expected);
    }
    for (const store of stores.slice(1)) {
      const [next] = await store.multi([
        create(`${root}/outbox/spans/3-0-`, undefined, { sequential: true }),
      ]);
      expect(next?.path).toBe(`${root}/outbox/spans/3-0-0000002500`);
    }
    await emptyTree(zookeeper, root);
    expect(await zookeeper.children(root)).toEqual([]);
  });

  test('what ZooKeeper numbered goes on in it after a copy to another root', async () => {
    const [from, to] = [freshRoot(), freshRoot()];
    await using source = openSource([sharedZooKeeper()]);
    const store = await source.connect('copy');
    await plantTree(store, from, 300);
    await writeTree(store, to, persistentNodes(readTree(store, from)), randomIds());
    const [next] = await store.multi([create(`${to}/outbox/spans/3-0-`, undefined, { sequential: true })]);
    expect(next?.path).toBe(`${to}/outbox/spans/3-0-0000000300`);
  });
});

/**
 * Copies the tree of an installation from one store to another: for backup, and to move from the embedded store to
 * ZooKeeper. Both while no process of the installation runs.
 *
 *     await writeTree(target, '/gatehouse', persistentNodes(readTree(source, '/gatehouse')), ids);
 *
 * What a copied node keeps:
 *
 * - **Path and data**, byte for byte. Nodes of sessions (locks, claims, components) are not copied, as after the death of
 *   every process: a request that was taken has lost its claim and another worker tries it again.
 * - **Versions**, because some have a meaning: an epoch *is* the version of its node and must never go back, the version of
 *   a queued event counts its attempts. Epochs always keep theirs. Any other version was only ever compared with what
 *   a process read itself; it is kept up to {@link VERSION_KEPT}, which preserves the attempts without repeating the million
 *   writes of a `lastOp`.
 * - **Future sequence numbers.** A store numbers by the count of nodes created below a parent, which cannot be set. So nodes
 *   are created and removed there until the next number is above every copied one. Numbers of nodes that were gone by then
 *   may be used again: no stored record refers to a node of these places by its number alone.
 *
 * Not kept: times, transaction numbers and access lists. The new nodes belong to the session that creates them.
 *
 * Each multi stores its own id in a mark below the root, which shows after a lost reply whether the multi was applied. The
 * mark is removed at the end: a tree with a mark is an incomplete copy.
 */
import type { IdMaker } from '../lib/ids.ts';
import { isConnectionLoss, settle } from './connection.ts';
import { ensureNode } from './ensure-node.ts';
import { baseName, parentPath } from './node-path.ts';
import { numberOf } from './numbered-places.ts';
import { create, type Operation, remove, type Store, set } from './port.ts';
import { readNow } from './read-now.ts';
import { operationBytes } from './size.ts';

/** One node on its way, as read from a store or from a dump. */
export interface CopiedNode {
  /** Below the root, without leading slash; empty for the root itself. Parents come before their children. */
  readonly path: string;
  readonly data: Uint8Array;
  readonly version: number;
}

/** As read from a store, where nodes of sessions are among them. */
export interface ReadNode extends CopiedNode {
  /** The node ends with its session. */
  readonly ephemeral: boolean;
}

/** Highest version that is kept for nodes other than epochs. */
export const VERSION_KEPT = 100;

const READ_AT_ONCE = 50;
/** Limits of one multi, so that a ZooKeeper with other users does not stall. */
const WRITE_BYTES = 400_000;
const WRITE_OPERATIONS = 1000;

/** Below the root while a copy is written. */
const MARK = 'copying';

/** The node's path in the store. */
function placeOf(root: string, path: string): string {
  return path === '' ? root : `${root}/${path}`;
}

/** All nodes from the root on, each before its children, siblings in order of their names; nothing when there is no root. */
export async function* readTree(store: Store, root: string): AsyncGenerator<ReadNode, void, undefined> {
  yield* readNodes(store, root, ['']);
}

/** Holds the names along one branch and the data of {@link READ_AT_ONCE} siblings each, not the tree. */
async function* readNodes(
  store: Store,
  root: string,
  paths: readonly string[],
): AsyncGenerator<ReadNode, void, undefined> {
  for (let at = 0; at < paths.length; at += READ_AT_ONCE) {
    const some = paths.slice(at, at + READ_AT_ONCE);
    const nodes = await readNow(store, () => store.getMany(some.map(path => placeOf(root, path))));
    for (const [index, path] of some.entries()) {
      const node = nodes[index];
      if (node === undefined) continue;
      const { version, ephemeralOwner, childCount } = node.stat;
      yield { path, data: node.data, version, ephemeral: ephemeralOwner !== undefined };
      if (childCount === 0) continue;
      const names = (await readNow(store, () => store.children(placeOf(root, path)))) ?? [];
      const below = names.map(name => (path === '' ? name : `${path}/${name}`));
      yield* readNodes(store, root, below);
    }
  }
}

/** The nodes that outlive their sessions. */
export async function* persistentNodes(
  nodes: AsyncIterable<ReadNode>,
): AsyncGenerator<CopiedNode, void, undefined> {
  for await (const node of nodes) if (!node.ephemeral) yield node;
}

/** Whether a copy of this tree was begun and not finished. */
export async function isHalfCopied(store: Store, root: string): Promise<boolean> {
  return (await readNow(store, () => store.get(placeOf(root, MARK)))) !== undefined;
}

/**
 * Writes nodes below `root`, which must have nothing below it.
 *
 * @returns how many, without the root.
 * @throws StoreError `NodeExists` when a node exists, `NoNode` when its parent was not among the nodes before it. Then, and
 *   when `nodes` itself fails, the incomplete tree stays, with its mark: {@link emptyTree} removes it.
 */
export async function writeTree(
  store: Store,
  root: string,
  nodes: AsyncIterable<CopiedNode> | Iterable<CopiedNode>,
  ids: IdMaker,
): Promise<number> {
  await ensureNode(store, root);
  const writer = createWriter(store, placeOf(root, MARK), ids);
  const numbers = new Map<string, { made: number; highest: number }>();
  let count = 0;
  await writer.begin();
  for await (const node of nodes) {
    if (node.path === '') {
      if (node.data.length > 0) await writer.add([set(root, node.data)]);
      continue;
    }
    await writer.add(makingOf(placeOf(root, node.path), node));
    count += 1;
    const parent = node.path.includes('/') ? parentPath(node.path) : '';
    const number = numberOf(parent, baseName(node.path));
    if (number === undefined) continue;
    const { made, highest } = numbers.get(parent) ?? { made: 0, highest: -1 };
    numbers.set(parent, { made: made + 1, highest: Math.max(highest, number) });
  }
  for (const [parent, { made, highest }] of numbers) {
    const spent = `${placeOf(root, parent)}/spent`;
    for (let next = made; next <= highest; next++) await writer.add([create(spent), remove(spent)]);
  }
  await writer.end();
  return count;
}

/** Operations that create a node of this version; the last write carries the data. */
function* makingOf(path: string, { data, version }: CopiedNode): Generator<Operation, void, undefined> {
  const wanted = baseName(path) === 'epoch' ? version : Math.min(version, VERSION_KEPT);
  yield create(path, wanted === 0 ? data : undefined);
  for (let at = 1; at <= wanted; at++) yield set(path, at === wanted ? data : new Uint8Array(0));
}

/** Removes everything below `root`. No other process may write there meanwhile. */
export async function emptyTree(store: Store, root: string): Promise<void> {
  const names = (await readNow(store, () => store.children(root))) ?? [];
  for (const name of names) {
    const path = `${root}/${name}`;
    await emptyTree(store, path);
    await removeNow(store, path);
  }
}

async function removeNow(store: Store, path: string): Promise<void> {
  try {
    await store.multi([remove(path)]);
  } catch (error) {
    if (!isConnectionLoss(error)) throw error;
    if ((await settle(store, () => store.get(path))) !== undefined) await removeNow(store, path);
  }
}

/** Operations in order, in multis of a bounded size, each applied once even when replies are lost. */
function createWriter(store: Store, mark: string, ids: IdMaker) {
  let waiting: Operation[] = [];
  let bytes = 0;

  async function send(operations: readonly Operation[], first = false): Promise<void> {
    const id = Buffer.from(ids.uuid());
    const marked = [...operations, first ? create(mark, id) : set(mark, id)];
    for (;;) {
      try {
        await store.multi(marked);
        return;
      } catch (error) {
        if (!isConnectionLoss(error)) throw error;
      }
      const last = await settle(store, () => store.get(mark));
      if (last !== undefined && id.equals(last.data)) return;
    }
  }

  async function flush(): Promise<void> {
    const operations = waiting;
    waiting = [];
    bytes = 0;
    if (operations.length > 0) await send(operations);
  }

  return {
    begin: () => send([], true),
    async add(operations: Iterable<Operation>): Promise<void> {
      for (const operation of operations) {
        const size = operationBytes(operation);
        if (waiting.length >= WRITE_OPERATIONS || bytes + size > WRITE_BYTES) await flush();
        waiting.push(operation);
        bytes += size;
      }
    },
    async end(): Promise<void> {
      await flush();
      await removeNow(store, mark);
    },
  };
}

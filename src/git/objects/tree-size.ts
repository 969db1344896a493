/**
 * The size of a tree when it is checked out, computed from the object database before any file is written. Each directory is
 * added up once, however often it occurs, so 10^10 files cost no more than the kilobytes that hold them.
 */
import { createLru } from '../support/lru.ts';
import type { ObjectId } from './object-id.ts';
import { MissingObject, type ObjectReader } from './object-reader.ts';
import type { TreeEntry } from './tree.ts';
import { createTreeBudget, type TreeBudget } from './tree-budget.ts';

/** What a commit takes when it is checked out, without its `.git`. */
export interface TreeSize {
  /** Files, links and directories. */
  readonly entries: number;
  /** On a disk with blocks of 4096 bytes. */
  readonly bytes: number;
}

const BLOCK = 4096;
/** Directories remembered, about 200 bytes each. */
const KEPT = 50_000;
const AT_ONCE = 500;

/** @returns a function that gives the size of a tree. It throws OverBudget, or MissingObject. */
export function createTreeSizes(
  reader: Pick<ObjectReader, 'tree' | 'header'>,
): (tree: ObjectId) => Promise<TreeSize> {
  const kept = createLru<ObjectId, TreeSize>(KEPT);

  async function sizeOf(id: ObjectId, known: Map<ObjectId, TreeSize>, budget: TreeBudget): Promise<TreeSize> {
    const remembered = known.get(id) ?? kept.get(id);
    if (remembered !== undefined) return remembered;
    const tree = await reader.tree(id);
    await budget.spend(tree.size);
    let entries = tree.size;
    let bytes = BLOCK;
    const files: TreeEntry[] = [];
    for (const entry of tree.values()) {
      if (entry.kind === 'directory') {
        const below = await sizeOf(entry.id, known, budget);
        entries += below.entries;
        bytes += below.bytes;
      } else if (entry.kind === 'submodule') bytes += BLOCK;
      else files.push(entry);
    }
    for (let at = 0; at < files.length; at += AT_ONCE) {
      const sizes = await Promise.all(files.slice(at, at + AT_ONCE).map(file => onDisk(file.id)));
      bytes += sizes.reduce((sum, size) => sum + size, 0);
    }
    const size = { entries, bytes };
    known.set(id, size);
    kept.set(id, size);
    return size;
  }

  async function onDisk(id: ObjectId): Promise<number> {
    const header = await reader.header(id);
    if (header === undefined) throw new MissingObject(id, 'blob');
    return Math.ceil(header.size / BLOCK) * BLOCK;
  }

  return tree => sizeOf(tree, new Map(), createTreeBudget());
}

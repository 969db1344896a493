/**
 * Which paths differ between two trees, without renames: what `git diff-tree -r --no-renames --name-only` lists, read from
 * the object database in memory. Only directories whose ids differ are opened, so the cost follows the change, not the project.
 */
import type { ObjectId } from './object-id.ts';
import type { ObjectReader } from './object-reader.ts';
import { pathText, type Tree, type TreeEntry } from './tree.ts';

const NOTHING: Tree = new Map();

/** Sorted paths (see `pathText`) of files added, changed (content or mode) or deleted from `before` to `after`. */
export async function changedPaths(
  reader: Pick<ObjectReader, 'tree'>,
  before: ObjectId,
  after: ObjectId,
): Promise<string[]> {
  const paths: string[] = [];

  async function compare(prefix: string, old: Tree, fresh: Tree): Promise<void> {
    for (const name of new Set([...old.keys(), ...fresh.keys()])) {
      const was = old.get(name);
      const is = fresh.get(name);
      if (was?.id === is?.id && was?.mode === is?.mode) continue;
      const path = `${prefix}${name}`;
      if (isLeaf(was) || isLeaf(is)) paths.push(path);
      await compare(`${path}/`, await below(was), await below(is));
    }
  }

  async function below(entry: TreeEntry | undefined): Promise<Tree> {
    return entry?.kind === 'directory' ? reader.tree(entry.id) : NOTHING;
  }

  if (before !== after) await compare('', await reader.tree(before), await reader.tree(after));
  return paths.sort().map(pathText);
}

function isLeaf(entry: TreeEntry | undefined): boolean {
  return entry !== undefined && entry.kind !== 'directory';
}

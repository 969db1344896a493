/**
 * Which paths differ between two trees, without renames: what `git diff-tree -r --no-renames --name-only` lists, read from
 * the object database in memory. Only directories whose ids differ are opened.
 *
 * Directories may share their contents, so a few kilobytes can differ in 10^10 paths. Paths are counted first, each pair of
 * directories once; they are listed only when the count is within the budget.
 */
import { nextTurn, turnIsUsed } from '../../lib/turns.ts';
import type { ObjectId } from './object-id.ts';
import type { ObjectReader } from './object-reader.ts';
import { pathText, type Tree, type TreeEntry } from './tree.ts';
import { OverBudget, type TreeBudget, tooManyEntries } from './tree-budget.ts';

const NOTHING: Tree = new Map();

type Trees = Pick<ObjectReader, 'tree'>;
type Pair = readonly [was: ObjectId | undefined, is: ObjectId | undefined];

/**
 * Sorted paths (see `pathText`) of files added, changed (content or mode) or deleted from `before` to `after`.
 *
 * @throws OverBudget
 */
export async function changedPaths(
  reader: Trees,
  before: ObjectId,
  after: ObjectId,
  budget: TreeBudget,
): Promise<string[]> {
  const paths: string[] = [];

  async function list(prefix: string, pair: Pair): Promise<void> {
    for (const [name, was, is] of differences(await open(reader, pair))) {
      const path = `${prefix}${name}`;
      if (isLeaf(was) || isLeaf(is)) {
        budget.list(path.length);
        paths.push(path);
      }
      if (isDirectory(was) || isDirectory(is)) await list(`${path}/`, [directory(was), directory(is)]);
      if (turnIsUsed()) await nextTurn();
    }
  }

  if (before === after) return paths;
  await countDifferences(reader, before, after, budget);
  await list('', [before, after]);
  return paths.sort().map(pathText);
}

/**
 * How many entries, directories included, differ between two trees; reads each pair of directories once.
 *
 * @throws OverBudget when there are more of them than the budget allows, or when reading them exceeds its rest.
 */
export async function countDifferences(
  reader: Trees,
  before: ObjectId,
  after: ObjectId,
  budget: TreeBudget,
): Promise<number> {
  const known = new Map<string, number>();

  async function count(pair: Pair, depth: number): Promise<number> {
    const key = pair.join(' ');
    const remembered = known.get(key);
    if (remembered !== undefined) return remembered;
    if (depth > MAX_DEPTH)
      throw new OverBudget('entries', `its tree is too deep to read: more than ${MAX_DEPTH} directories`);
    const trees = await open(reader, pair);
    await budget.spend(trees[0].size + trees[1].size);
    let sum = 0;
    for (const [, was, is] of differences(trees)) {
      sum += 1;
      if (isDirectory(was) || isDirectory(is)) sum += await count([directory(was), directory(is)], depth + 1);
    }
    known.set(key, sum);
    return sum;
  }

  const total = before === after ? 0 : await count([before, after], 0);
  if (total > budget.limit) throw tooManyEntries(total, budget.limit);
  return total;
}

/** As git's own `core.maxTreeDepth`. */
const MAX_DEPTH = 2048;

async function open(reader: Trees, [was, is]: Pair): Promise<readonly [Tree, Tree]> {
  return [
    was === undefined ? NOTHING : await reader.tree(was),
    is === undefined ? NOTHING : await reader.tree(is),
  ];
}

function* differences([old, fresh]: readonly [Tree, Tree]): Generator<
  readonly [name: string, was: TreeEntry | undefined, is: TreeEntry | undefined]
> {
  for (const [name, was] of old) {
    const is = fresh.get(name);
    if (was.id !== is?.id || was.mode !== is.mode) yield [name, was, is];
  }
  for (const [name, is] of fresh) if (!old.has(name)) yield [name, undefined, is];
}

function isLeaf(entry: TreeEntry | undefined): boolean {
  return entry !== undefined && entry.kind !== 'directory';
}

function isDirectory(entry: TreeEntry | undefined): boolean {
  return entry?.kind === 'directory';
}

function directory(entry: TreeEntry | undefined): ObjectId | undefined {
  return entry?.kind === 'directory' ? entry.id : undefined;
}

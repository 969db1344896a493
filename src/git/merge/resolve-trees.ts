/**
 * git's merge strategy `resolve`, without a work tree: what differs between three trees is taken path by path, and renames are not
 * followed (`git merge-tree` always follows them before 2.50).
 *
 *     changed on one side only             that side
 *     the same on both                     as it is
 *     a file that both changed             merged by lines
 *     anything else that both changed      conflict: deleted and changed, added twice, file and directory, links, modes
 *
 * The files that both changed are merged by `git merge-tree` in one go, in trees of their own in which nothing can be a rename. Of
 * several merge bases the first one counts.
 */

import type { ObjectId } from '../objects/object-id.ts';
import type { ObjectReader } from '../objects/object-reader.ts';
import type { ObjectWriter } from '../objects/object-writer.ts';
import { pathText, type Tree, type TreeEntry } from '../objects/tree.ts';
import { createTreeBudget, type TreeBudget } from '../objects/tree-budget.ts';
import { writeTreeEntries } from '../objects/write-tree-entries.ts';
import type { MergeTree, MergeTreeResult } from './merge-tree.ts';
import type { OwnCommits } from './own-commits.ts';
import { mergeTrees, type ThreeWayDeps } from './three-way.ts';

/** The mirror. */
export interface ResolveDeps extends ThreeWayDeps {
  readonly reader: Pick<ObjectReader, 'commit' | 'tree'>;
  readonly writer: Pick<ObjectWriter, 'write' | 'writeCommit'>;
  readonly ownCommits: Pick<OwnCommits, 'mergeBase'>;
}

/** Base, ours, theirs. */
type Three<T> = readonly [T | undefined, T | undefined, T | undefined];

/** One entry of the merged tree; `at`: place in the list of files merged by lines. */
type Member =
  | { readonly kind: 'as-it-is'; readonly entry: TreeEntry }
  | { readonly kind: 'directory'; readonly name: string; readonly members: readonly Member[] }
  | { readonly kind: 'lines'; readonly name: string; readonly mode: string; readonly at: number };

interface Walk {
  readonly reader: ResolveDeps['reader'];
  readonly budget: TreeBudget;
  /** Files that both sides changed, with their paths. */
  readonly files: { readonly path: string; readonly blobs: readonly [ObjectId, ObjectId, ObjectId] }[];
  readonly conflicts: string[];
}

const NO_TREE: Tree = new Map();
/** As git's own `core.maxTreeDepth`. */
const MAX_DEPTH = 2_048;
const MOST_CONFLICTS = 1_000;

/** Merges as `git merge -s resolve`. `merge` throws OverBudget when the trees are too large to read. */
export function createResolve(deps: ResolveDeps): Pick<MergeTree, 'merge'> {
  return {
    async merge(ours, theirs) {
      const base = await deps.ownCommits.mergeBase(ours, theirs);
      if (base === undefined) return { kind: 'unrelated' };
      const [first, second, third] = await Promise.all(
        [base, ours, theirs].map(async commit => (await deps.reader.commit(commit)).tree),
      );
      return resolve(deps, [first, second, third]);
    },
  };
}

async function resolve(deps: ResolveDeps, trees: Three<ObjectId>): Promise<MergeTreeResult> {
  const walk: Walk = { reader: deps.reader, budget: createTreeBudget(), files: [], conflicts: [] };
  const members = await membersOf(walk, trees, '', 0);
  const merged = await mergeLines(deps, walk);
  const conflicts = [...walk.conflicts, ...merged.conflicts];
  if (conflicts.length > 0)
    return { kind: 'conflict', files: conflicts.toSorted().slice(0, MOST_CONFLICTS).map(pathText) };
  return { kind: 'clean', tree: await writeTree(deps, members, merged.blobs) };
}

async function membersOf(walk: Walk, trees: Three<ObjectId>, path: string, depth: number): Promise<Member[]> {
  if (depth > MAX_DEPTH) {
    walk.conflicts.push(path);
    return [];
  }
  const open = (id: ObjectId | undefined) => (id === undefined ? NO_TREE : walk.reader.tree(id));
  const [base, ours, theirs] = await Promise.all([open(trees[0]), open(trees[1]), open(trees[2])]);
  await walk.budget.spend(base.size + ours.size + theirs.size);
  const members: Member[] = [];
  for (const name of new Set([...base.keys(), ...ours.keys(), ...theirs.keys()])) {
    const entries: Three<TreeEntry> = [base.get(name), ours.get(name), theirs.get(name)];
    const member = await memberOf(walk, entries, `${path}${name}`, depth);
    if (member !== undefined) members.push(member);
  }
  return members;
}

async function memberOf(
  walk: Walk,
  entries: Three<TreeEntry>,
  path: string,
  depth: number,
): Promise<Member | undefined> {
  const [base, ours, theirs] = entries;
  if (same(ours, theirs) || same(base, theirs)) return asItIs(ours);
  if (same(base, ours)) return asItIs(theirs);
  if (entries.every(entry => entry === undefined || entry.kind === 'directory')) {
    const members = await membersOf(walk, [base?.id, ours?.id, theirs?.id], `${path}/`, depth + 1);
    const name = (ours ?? theirs)?.name;
    return members.length === 0 || name === undefined ? undefined : { kind: 'directory', name, members };
  }
  if (
    base?.kind === 'file' &&
    ours?.kind === 'file' &&
    theirs?.kind === 'file' &&
    ours.mode === theirs.mode
  ) {
    walk.files.push({ path, blobs: [base.id, ours.id, theirs.id] });
    return { kind: 'lines', name: ours.name, mode: ours.mode, at: walk.files.length - 1 };
  }
  walk.conflicts.push(path);
  return undefined;
}

function same(a: TreeEntry | undefined, b: TreeEntry | undefined): boolean {
  return a?.id === b?.id && a?.mode === b?.mode;
}

function asItIs(entry: TreeEntry | undefined): Member | undefined {
  return entry === undefined ? undefined : { kind: 'as-it-is', entry };
}

/** @returns blobs in the order of the walk's files; `conflicts` are paths. */
async function mergeLines(
  deps: ResolveDeps,
  { files }: Walk,
): Promise<{ readonly blobs: readonly ObjectId[]; readonly conflicts: readonly string[] }> {
  if (files.length === 0) return { blobs: [], conflicts: [] };
  // Their numbers for names: equally long, so that the order of the trees is that of the files.
  const name = (at: number) => String(at).padStart(8, '0');
  const [base, ours, theirs] = await Promise.all(
    ([0, 1, 2] as const).map(side =>
      writeTreeEntries(
        deps.writer,
        files.map(({ blobs }, at) => ({ name: name(at), mode: '100644', id: blobs[side] })),
      ),
    ),
  );
  if (base === undefined || ours === undefined || theirs === undefined) throw new Error('three trees');
  const merged = await mergeTrees(deps, { base, ours, theirs });
  if (merged.kind === 'unrelated') throw new Error('commits with a common parent are related');
  if (merged.kind === 'conflict')
    return { blobs: [], conflicts: merged.files.flatMap(file => files[Number(file)]?.path ?? []) };
  const tree = await deps.reader.tree(merged.tree);
  return { blobs: files.flatMap((_, at) => tree.get(name(at))?.id ?? []), conflicts: [] };
}

async function writeTree(
  deps: ResolveDeps,
  members: readonly Member[],
  blobs: readonly ObjectId[],
): Promise<ObjectId> {
  const entries: Pick<TreeEntry, 'name' | 'mode' | 'id'>[] = [];
  for (const member of members) {
    if (member.kind === 'as-it-is') entries.push(member.entry);
    else if (member.kind === 'directory')
      entries.push({ name: member.name, mode: '40000', id: await writeTree(deps, member.members, blobs) });
    else {
      const id = blobs[member.at];
      if (id === undefined) throw new Error('a merged file is missing');
      entries.push({ name: member.name, mode: member.mode, id });
    }
  }
  return writeTreeEntries(deps.writer, entries);
}

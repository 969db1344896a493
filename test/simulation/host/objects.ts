/**
 * Commits without git: a commit is its files, its parents and its message, and its id follows from them. A merge is three-way
 * by file; a file changed on both sides is a conflict. One object database serves all; which commits a machine has is its
 * own affair (`host-git.ts`).
 */
import { hash } from 'node:crypto';
import { type ObjectId, parseObjectId } from '../../../src/git/objects/object-id.ts';

export type Files = ReadonlyMap<string, string>;

export interface SimCommit {
  readonly id: ObjectId;
  /** Follows from the files alone. */
  readonly tree: string;
  readonly files: Files;
  readonly parents: readonly ObjectId[];
  readonly message: string;
}

export type Merged =
  | { readonly kind: 'merged'; readonly commit: ObjectId }
  | { readonly kind: 'conflict'; readonly files: readonly string[] };

export class Objects {
  readonly #commits = new Map<ObjectId, SimCommit>();

  commit(files: Files, parents: readonly ObjectId[], message: string): ObjectId {
    const sorted = [...files].sort(([a], [b]) => (a < b ? -1 : 1));
    const tree = digest(JSON.stringify(sorted));
    const id = parseObjectId(digest(JSON.stringify([tree, parents, message])));
    if (!this.#commits.has(id)) this.#commits.set(id, { id, tree, files: new Map(sorted), parents, message });
    return id;
  }

  get(id: string): SimCommit {
    const commit = this.#commits.get(parseObjectId(id));
    if (commit === undefined) throw new Error(`there is no commit ${id}`);
    return commit;
  }

  /** Itself included. */
  ancestors(id: ObjectId): ReadonlySet<ObjectId> {
    const found = new Set<ObjectId>([id]);
    for (const each of found) for (const parent of this.#commits.get(each)?.parents ?? []) found.add(parent);
    return found;
  }

  isAncestor(ancestor: ObjectId, descendant: ObjectId): boolean {
    return this.ancestors(descendant).has(ancestor);
  }

  merge(base: ObjectId, change: ObjectId, message: string): Merged {
    if (this.isAncestor(change, base)) return { kind: 'merged', commit: base };
    const [ours, theirs] = [this.get(base).files, this.get(change).files];
    const common = this.#mergeBase(base, change)?.files ?? new Map<string, string>();
    const files = new Map<string, string>();
    const conflicts: string[] = [];
    for (const path of new Set([...ours.keys(), ...theirs.keys()])) {
      const [a, b, c] = [ours.get(path), theirs.get(path), common.get(path)];
      if (a !== b && a !== c && b !== c) conflicts.push(path);
      const kept = a === c ? b : a;
      if (kept !== undefined) files.set(path, kept);
    }
    if (conflicts.length > 0) return { kind: 'conflict', files: conflicts.sort() };
    return { kind: 'merged', commit: this.commit(files, [base, change], message) };
  }

  changedPaths(before: ObjectId, after: ObjectId): readonly string[] {
    const [a, b] = [this.get(before).files, this.get(after).files];
    return [...new Set([...a.keys(), ...b.keys()])].filter(path => a.get(path) !== b.get(path)).sort();
  }

  /** The nearest common ancestor, breadth first from `b`. */
  #mergeBase(a: ObjectId, b: ObjectId): SimCommit | undefined {
    const reachable = this.ancestors(a);
    for (const id of this.ancestors(b)) if (reachable.has(id)) return this.#commits.get(id);
    return undefined;
  }
}

function digest(text: string): string {
  return hash('sha1', text, 'hex');
}

/**
 * Writes commits as loose objects, without a process of git: a story makes a dozen, and a process costs more than all their files. What
 * is not plain (unusual names, parents that are not loose objects, a file in place of a folder, large trees) it leaves to git.
 */
import { readLooseObject } from '../../src/git/objects/loose-object.ts';
import { parseObjectId } from '../../src/git/objects/object-id.ts';
import { createObjectWriter } from '../../src/git/objects/object-writer.ts';
import { parseTree } from '../../src/git/objects/tree.ts';
import { looseCommit } from './loose-commits.ts';

interface PlainCommit {
  /** The first is what `files` are changes of. */
  readonly parents: readonly string[];
  /** Path, content (null deletes), whether it is executable. */
  readonly files: readonly (readonly [path: string, content: string | null, executable: boolean])[];
  readonly message: string;
  /** `Name <address> <seconds> +0000`, author and committer. */
  readonly who: string;
  /** The same, where it is another. */
  readonly committer?: string;
}

export interface CommitWriter {
  /** @returns its id; undefined: this one is for git. */
  write(commit: PlainCommit): Promise<string | undefined>;
}

/** Path → what a tree says of the file. */
type Tree = ReadonlyMap<string, Entry>;

interface Entry {
  readonly mode: '100644' | '100755';
  readonly id: string;
}

/** Each commit writes all its trees. */
const MOST_FILES = 200;
/** Bytes. */
const MOST_TREE = 64 * 1024;

/** Of names that begin with a dot only Zuul's: git refuses some of the others. */
const PLAIN_NAME = String.raw`(?:\w[\w.-]*|\.zuul(?:\.yaml|\.d))`;
const PLAIN_PATH = new RegExp(`^${PLAIN_NAME}(?:/${PLAIN_NAME})*$`);

const writers = new Map<string, CommitWriter>();

/** The same one each time: it knows what it wrote. */
export function commitWriterOf(gitDir: string): CommitWriter {
  const known = writers.get(gitDir) ?? createCommitWriter(gitDir);
  writers.set(gitDir, known);
  return known;
}

/** @param gitDir a bare repository. */
export function createCommitWriter(gitDir: string): CommitWriter {
  const objects = createObjectWriter(gitDir);
  const known = new Map<string, Tree>();

  /** @param prefix of the paths in this folder, with its slash. */
  async function writeTree(tree: Tree, prefix: string): Promise<string> {
    const entries = new Map<string, { readonly mode: string; readonly id: string }>();
    for (const [file, entry] of tree) {
      if (!file.startsWith(prefix)) continue;
      const [name = '', ...rest] = file.slice(prefix.length).split('/');
      if (rest.length === 0) entries.set(name, entry);
      else if (!entries.has(`${name}/`))
        entries.set(`${name}/`, { mode: '40000', id: await writeTree(tree, `${prefix}${name}/`) });
    }
    // git's order: folders as if they ended in a slash.
    const sorted = [...entries].toSorted(([a], [b]) => (a < b ? -1 : 1));
    const parts = sorted.map(([name, { mode, id }]) =>
      Buffer.concat([Buffer.from(`${mode} ${name.replace('/', '')}\0`), Buffer.from(id, 'hex')]),
    );
    return objects.write('tree', Buffer.concat(parts));
  }

  return {
    async write({ parents, files, message, who, committer = who }) {
      const [first] = parents;
      const before =
        first === undefined ? new Map<string, Entry>() : (known.get(first) ?? (await treeOf(gitDir, first)));
      if (before === undefined || !files.every(([file]) => PLAIN_PATH.test(file))) return undefined;
      const tree = new Map(before);
      for (const [file, content, executable] of files) {
        if (content === null) {
          if (!tree.delete(file)) return undefined;
        } else
          tree.set(file, {
            mode: executable ? '100755' : '100644',
            id: await objects.write('blob', Buffer.from(content)),
          });
      }
      if (tree.size > MOST_FILES || !isSound(tree)) return undefined;
      const head = [
        `tree ${await writeTree(tree, '')}`,
        ...parents.map(parent => `parent ${parent}`),
        `author ${who}`,
        `committer ${committer}`,
      ];
      const id = await objects.write('commit', Buffer.from(`${head.join('\n')}\n\n${message}`));
      known.set(id, tree);
      return id;
    },
  };
}

/** Undefined: not of plain files, or not all of it is there as loose objects. */
async function treeOf(gitDir: string, commit: string): Promise<Tree | undefined> {
  const found = new Map<string, Entry>();
  const open = [{ prefix: '', id: looseCommit(gitDir, commit)?.tree }];
  for (const { prefix, id } of open) {
    const tree = id === undefined ? undefined : readLooseObject(gitDir, parseObjectId(id), MOST_TREE);
    if (tree?.kind !== 'tree') return undefined;
    for (const { name, mode, id } of (await parseTree(tree.content)).values()) {
      if (!/^[ -~]+$/.test(name)) return undefined;
      if (mode === '40000') open.push({ prefix: `${prefix}${name}/`, id });
      else if (mode === '100644' || mode === '100755') found.set(`${prefix}${name}`, { mode, id });
      else return undefined;
    }
  }
  return found.size > MOST_FILES ? undefined : found;
}

/** No path is a file and a folder. */
function isSound(tree: Tree): boolean {
  return [...tree.keys()].every(file => {
    const parts = file.split('/');
    return parts.slice(1).every((_, index) => !tree.has(parts.slice(0, index + 1).join('/')));
  });
}

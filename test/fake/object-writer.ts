/**
 * Writes commits as loose objects, without a process of git: a story makes a dozen, and a process costs more than all their files. What
 * is not plain (unusual names, parents whose files are not known here, a file in place of a folder, large trees) it leaves to git.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { deflateSync } from 'node:zlib';

interface PlainCommit {
  /** The first is what `files` are changes of. */
  readonly parents: readonly string[];
  /** Path, content (null deletes), whether it is executable. */
  readonly files: readonly (readonly [path: string, content: string | null, executable: boolean])[];
  readonly message: string;
  /** `Name <address> <seconds> +0000`, author and committer. */
  readonly who: string;
}

export interface ObjectWriter {
  /** @returns its id; undefined: this one is for git. */
  write(commit: PlainCommit): string | undefined;
}

/** Path → what a tree says of the file. */
type Tree = ReadonlyMap<string, Entry>;

interface Entry {
  readonly mode: '100644' | '100755';
  readonly id: string;
}

/** Each commit writes all its trees. */
const MOST_FILES = 200;

/** Of names that begin with a dot only Zuul's: git refuses some of the others. */
const PLAIN_NAME = String.raw`(?:\w[\w.-]*|\.zuul(?:\.yaml|\.d))`;
const PLAIN_PATH = new RegExp(`^${PLAIN_NAME}(?:/${PLAIN_NAME})*$`);

let written = 0;

/** @param objects folder of that name in a bare repository. */
export function objectWriter(objects: string): ObjectWriter {
  const known = new Map<string, Tree>();

  function writeObject(kind: 'blob' | 'tree' | 'commit', content: Buffer): string {
    const whole = Buffer.concat([Buffer.from(`${kind} ${content.length}\0`), content]);
    const id = createHash('sha1').update(whole).digest('hex');
    const file = path.join(objects, id.slice(0, 2), id.slice(2));
    if (existsSync(file)) return id;
    mkdirSync(path.dirname(file), { recursive: true });
    // Others read meanwhile.
    const draft = path.join(objects, `tmp_obj_${process.pid}_${++written}`);
    writeFileSync(draft, deflateSync(whole, { level: 1 }), { mode: 0o444 });
    renameSync(draft, file);
    return id;
  }

  /** @param prefix of the paths in this folder, with its slash. */
  function writeTree(tree: Tree, prefix: string): string {
    const entries = new Map<string, { readonly mode: string; readonly id: string }>();
    for (const [file, entry] of tree) {
      if (!file.startsWith(prefix)) continue;
      const [name = '', ...rest] = file.slice(prefix.length).split('/');
      if (rest.length === 0) entries.set(name, entry);
      else if (!entries.has(`${name}/`))
        entries.set(`${name}/`, { mode: '40000', id: writeTree(tree, `${prefix}${name}/`) });
    }
    // git's order: folders as if they ended in a slash.
    const sorted = [...entries].toSorted(([a], [b]) => (a < b ? -1 : 1));
    const parts = sorted.map(([name, { mode, id }]) =>
      Buffer.concat([Buffer.from(`${mode} ${name.replace('/', '')}\0`), Buffer.from(id, 'hex')]),
    );
    return writeObject('tree', Buffer.concat(parts));
  }

  return {
    write({ parents, files, message, who }) {
      const [first] = parents;
      const before = first === undefined ? new Map<string, Entry>() : known.get(first);
      if (before === undefined || !files.every(([file]) => PLAIN_PATH.test(file))) return undefined;
      const tree = new Map(before);
      for (const [file, content, executable] of files) {
        if (content === null) {
          if (!tree.delete(file)) return undefined;
        } else
          tree.set(file, {
            mode: executable ? '100755' : '100644',
            id: writeObject('blob', Buffer.from(content)),
          });
      }
      if (tree.size > MOST_FILES || !isSound(tree)) return undefined;
      const head = [
        `tree ${writeTree(tree, '')}`,
        ...parents.map(parent => `parent ${parent}`),
        `author ${who}`,
        `committer ${who}`,
      ];
      const id = writeObject('commit', Buffer.from(`${head.join('\n')}\n\n${message}`));
      known.set(id, tree);
      return id;
    },
  };
}

/** No path is a file and a folder. */
function isSound(tree: Tree): boolean {
  return [...tree.keys()].every(file => {
    const parts = file.split('/');
    return parts.slice(1).every((_, index) => !tree.has(parts.slice(0, index + 1).join('/')));
  });
}

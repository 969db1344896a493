/**
 * Reads the object database of one repository: what is a small file of its own in this process (`plain-repository.ts`), all else
 * through a long-lived `git cat-file --batch-command`.
 *
 * Only object ids and our own ref names are ever sent to git: paths are followed here, tree by tree, as bytes. So a file
 * name with a newline, a quote or invalid UTF-8 needs no quoting and cannot be mistaken for anything else.
 *
 *     await reader.readPath(commit, 'zuul.d/jobs.yaml', 1_000_000)   → { kind: 'file', data } | { kind: 'missing' } | …
 *
 * Objects never change, so trees, commits and the sizes of all objects are kept in memory; a missing object is asked for again each time, because a
 * fetch may have brought it meanwhile.
 */

import type { ByteReader } from '../process/byte-reader.ts';
import {
  type Coprocess,
  CoprocessDied,
  type CoprocessOptions,
  createCoprocess,
} from '../process/coprocess.ts';
import type { BudgetMember } from '../process/coprocess-budget.ts';
import type { Git } from '../process/git.ts';
import { createLru } from '../support/lru.ts';
import { type Commit, parseCommit } from './commit.ts';
import { isObjectId, type ObjectId } from './object-id.ts';
import type { ObjectKind } from './object-writer.ts';
import { createPlainRepository } from './plain-repository.ts';
import { parseTree, pathBytes, type Tree, type TreeEntry } from './tree.ts';
import { OverBudget } from './tree-budget.ts';

type ObjectType = 'commit' | 'tree' | 'blob' | 'tag';

interface ObjectHeader {
  readonly id: ObjectId;
  readonly type: ObjectType;
  /** Bytes of content. */
  readonly size: number;
}

type ReadResult =
  | { readonly kind: 'object'; readonly type: ObjectType; readonly data: Buffer }
  | { readonly kind: 'missing' }
  | { readonly kind: 'too-large'; readonly size: number };

type FileResult =
  | { readonly kind: 'file'; readonly data: Buffer }
  | { readonly kind: 'missing' }
  | { readonly kind: 'too-large'; readonly size: number }
  /** There is something at the path, but a directory, a symbolic link (never followed) or a submodule. */
  | { readonly kind: 'not-a-file'; readonly is: TreeEntry['kind'] };

/** Reads one repository. Starts git with the first question that only git can answer, and again when it has ended. */
export interface ObjectReader {
  /** Undefined: it is not here. */
  header(id: ObjectId): Promise<ObjectHeader | undefined>;
  /** Which of the objects are not here. */
  missing(ids: Iterable<ObjectId>): Promise<ObjectId[]>;
  /** The commit an id or one of our own refs leads to, through annotated tags; undefined when there is none. */
  resolve(idOrRef: string): Promise<ObjectId | undefined>;
  /** @param limit bytes beyond which the content is not read. */
  read(id: ObjectId, limit: number): Promise<ReadResult>;
  /** @throws MissingObject when it is not here or is no commit, OverBudget when it is larger than 2 MiB. */
  commit(id: ObjectId): Promise<Commit>;
  /** @throws MissingObject when it is not here or is no tree, OverBudget when it is larger than 32 MiB. */
  tree(id: ObjectId): Promise<Tree>;
  /** What stands at `path` (UTF-8, `/`-separated, no leading slash) below a tree. */
  entry(tree: ObjectId, path: string): Promise<TreeEntry | undefined>;
  /** @param limit bytes beyond which the file is not read. @throws MissingObject when the commit is not here. */
  readPath(commit: ObjectId, path: string, limit: number): Promise<FileResult>;
  /** An object that this process has written: what it holds needs not be asked for. */
  wrote(id: ObjectId, type: ObjectKind, content: Buffer): Promise<void>;
  /** Pid of the running coprocess, for tests. */
  pid(): number | undefined;
  /** Clears the memory cache, after objects were pruned. */
  forget(): void;
  close(): Promise<void>;
}

/** An expected object is missing: the repository is damaged or the caller did not fetch it. */
export class MissingObject extends Error {
  override readonly name = 'MissingObject';
  readonly id: string;
  constructor(id: string, what: string) {
    super(`${what} ${id} is not in the repository`);
    this.id = id;
  }
}

/** Bytes of memory, per repository that is at work. */
const KEPT_TREES = 24 * 1024 * 1024;
const KEPT_COMMITS = 4 * 1024 * 1024;
/** Objects known to be here, some 200 bytes each. */
const KEPT_HEADERS = 20_000;
/** Of one entry of a tree in memory, without its name. */
const ENTRY_BYTES = 250;
/** Bytes beyond which trees and commits are refused: a directory of a million entries is an attack, not a project. */
const MAX_TREE = 32 * 1024 * 1024;
const MAX_COMMIT = 2 * 1024 * 1024;
const NEWLINE = 0x0a;
/** After a name: the commit it leads to. */
const COMMIT_OF = '^{commit}';

interface Kept<T> {
  readonly value: T;
  /** Approximate bytes of memory. */
  readonly bytes: number;
}

/** @param options of its coprocess. The memory cache is dropped whenever that ends. */
export function createObjectReader(git: Git, gitDir: string, options: CoprocessOptions = {}): ObjectReader {
  const trees = createLru<ObjectId, Kept<Tree>>(KEPT_TREES, ({ bytes }) => bytes);
  const commits = createLru<ObjectId, Kept<Commit>>(KEPT_COMMITS, ({ bytes }) => bytes);

  const headers = createLru<ObjectId, ObjectHeader>(KEPT_HEADERS);

  function forget(): void {
    trees.clear();
    commits.clear();
    headers.clear();
  }

  // Idle projects take no memory.
  const start = () => git.start(['cat-file', '--batch-command'], { gitDir });
  const process = createCoprocess(start, { ...options, onEnd: forget });
  const plain = createPlainRepository(gitDir);
  const memory = createMemory(forget, () => process.pid() !== undefined, options);

  async function structure(id: ObjectId, type: 'tree' | 'commit'): Promise<Buffer> {
    const limit = type === 'tree' ? MAX_TREE : MAX_COMMIT;
    const result = await read(id, limit);
    if (result.kind === 'too-large')
      throw new OverBudget(
        'entries',
        `its ${type} ${id} is too large to read: ${result.size} bytes, limit ${limit}`,
      );
    if (result.kind === 'missing' || result.type !== type) throw new MissingObject(id, type);
    return result.data;
  }

  async function header(name: string): Promise<ObjectHeader | undefined> {
    const known = isObjectId(name) ? headers.get(name) : undefined;
    if (known !== undefined) return known;
    const found = plainHeader(name) ?? (await askTwice(process, `info ${name}\n`, readHeader));
    if (found === 'missing' || found === undefined) return undefined;
    headers.set(found.id, found);
    return found;
  }

  /** Undefined: it is for git. */
  function plainHeader(name: string): ObjectHeader | 'missing' | undefined {
    const base = name.replace(COMMIT_OF, '');
    const id = isObjectId(base) ? base : plain.tip(base);
    if (id === 'for-git') return undefined;
    if (id === 'missing') return 'missing';
    const found = plain.object(id);
    if (found === 'missing') return 'missing';
    if (found === 'for-git' || (base !== name && found.kind !== 'commit')) return undefined;
    memory.used();
    return { id, type: found.kind, size: found.content.length };
  }

  async function read(id: ObjectId, limit: number): Promise<ReadResult> {
    // The size first: git would unfold a few kilobytes to gigabytes to read the content.
    const known = await header(id);
    if (known === undefined) return { kind: 'missing' };
    if (known.size > limit) return { kind: 'too-large', size: known.size };
    const here = plain.object(id);
    if (typeof here !== 'string') return { kind: 'object', type: here.kind, data: here.content };
    return askTwice(process, `contents ${id}\n`, async reader => {
      const head = await readHeader(reader);
      if (head === undefined) return { kind: 'missing' };
      const data = await reader.exactly(head.size + 1);
      return { kind: 'object', type: head.type, data: data.subarray(0, head.size) };
    });
  }

  async function tree(id: ObjectId): Promise<Tree> {
    const known = trees.get(id);
    if (known !== undefined) return known.value;
    return keepTree(id, await structure(id, 'tree'));
  }

  async function keepTree(id: ObjectId, data: Buffer): Promise<Tree> {
    const value = await parseTree(data);
    trees.set(id, { value, bytes: data.length + value.size * ENTRY_BYTES });
    return value;
  }

  async function commit(id: ObjectId): Promise<Commit> {
    const known = commits.get(id);
    if (known !== undefined) return known.value;
    return keepCommit(id, await structure(id, 'commit'));
  }

  function keepCommit(id: ObjectId, data: Buffer): Commit {
    const value = parseCommit(data);
    commits.set(id, { value, bytes: data.length + ENTRY_BYTES });
    return value;
  }

  async function entry(root: ObjectId, path: string): Promise<TreeEntry | undefined> {
    let found: TreeEntry | undefined;
    let directory: ObjectId | undefined = root;
    for (const name of pathBytes(path).split('/')) {
      if (directory === undefined) return undefined;
      found = (await tree(directory)).get(name);
      directory = found?.kind === 'directory' ? found.id : undefined;
    }
    return found;
  }

  return {
    header,
    read,
    tree,
    commit,
    entry,
    async missing(ids) {
      const all = [...new Set(ids)];
      const found = await Promise.all(all.map(header));
      return all.filter((_, index) => found[index] === undefined);
    },
    async resolve(name) {
      if (!/^[!-~]+$/.test(name)) throw new RangeError(`not a local ref: ${JSON.stringify(name)}`);
      if (isObjectId(name) && headers.get(name)?.type === 'commit') return name;
      return (await header(`${name}${COMMIT_OF}`))?.id;
    },
    async readPath(id, path, limit) {
      const found = await entry((await commit(id)).tree, path);
      if (found === undefined) return { kind: 'missing' };
      if (found.kind !== 'file') return { kind: 'not-a-file', is: found.kind };
      const result = await read(found.id, limit);
      return result.kind === 'object' ? { kind: 'file', data: result.data } : result;
    },
    async wrote(id, type, content) {
      headers.set(id, { id, type, size: content.length });
      if (type === 'commit') keepCommit(id, content);
      if (type === 'tree') await keepTree(id, content);
    },
    pid: () => process.pid(),
    forget,
    async close() {
      memory.drop();
      await process.close();
    },
  };
}

/** What is kept goes when nothing was read for a while, or when other repositories need the room: also where no process ends. */
function createMemory(
  forget: () => void,
  hasProcess: () => boolean,
  { idleMs = 60_000, budget }: CoprocessOptions,
): { used(): void; drop(): void } {
  let idle: NodeJS.Timeout | undefined;
  const member: BudgetMember = {
    endIfIdle() {
      drop();
      return true;
    },
  };
  function drop(): void {
    clearTimeout(idle);
    idle = undefined;
    budget?.ended(member);
    if (!hasProcess()) forget();
  }
  return {
    used() {
      // A process counts already.
      if (!hasProcess()) budget?.used(member);
      if (idle === undefined) idle = setTimeout(drop, idleMs).unref();
      else idle.refresh();
    },
    drop,
  };
}

/** Reading changes nothing, so a question lost with its process is asked once more. */
async function askTwice<T>(
  process: Coprocess,
  question: string,
  read: (reader: ByteReader) => Promise<T>,
): Promise<T> {
  try {
    return await process.exchange(question, read);
  } catch (error) {
    if (!(error instanceof CoprocessDied)) throw error;
    return process.exchange(question, read);
  }
}

/** `<id> <type> <size>`, or `<name> missing`. */
async function readHeader(reader: ByteReader): Promise<ObjectHeader | undefined> {
  const line = (await reader.until(NEWLINE)).toString('latin1');
  const [id = '', type, size] = line.split(' ');
  if (isObjectId(id) && size !== undefined && isType(type)) return { id, type, size: Number(size) };
  if (line.endsWith(' missing') || line.endsWith(' ambiguous')) return undefined;
  throw new Error(`unexpected answer of cat-file: ${JSON.stringify(line.slice(0, 200))}`);
}

function isType(text: string | undefined): text is ObjectType {
  return text === 'commit' || text === 'tree' || text === 'blob' || text === 'tag';
}

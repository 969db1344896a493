/** Commits of a bare repository from their files, as far as they are loose. Objects do not change: each is read once. */

import { readLooseObject } from '../../src/git/objects/loose-object.ts';
import { parseObjectId } from '../../src/git/objects/object-id.ts';
import type { ObjectKind } from '../../src/git/objects/object-writer.ts';

export interface LooseCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: CommitPerson;
  readonly committer: CommitPerson;
  readonly message: string;
  /** All of it. */
  readonly text: string;
}

interface CommitPerson {
  readonly name: string;
  readonly email: string;
}

/** Bytes. */
const MOST = 256 * 1024;
/** Of all repositories, by folder and id; as many as one long test needs. */
const commits = new Map<string, LooseCommit>();
const MOST_KEPT = 20_000;

/** Undefined: it is not there as a file. */
export function looseKind(dir: string, id: string): ObjectKind | undefined {
  return commits.has(`${dir} ${id}`) ? 'commit' : readLooseObject(dir, parseObjectId(id), MOST)?.kind;
}

/** Undefined: no commit is there as a file. */
export function looseCommit(dir: string, id: string): LooseCommit | undefined {
  const key = `${dir} ${id}`;
  const known = commits.get(key);
  if (known !== undefined) return known;
  const found = readLooseObject(dir, parseObjectId(id), MOST);
  if (found?.kind !== 'commit') return undefined;
  const commit = parsed(found.content.toString());
  if (commits.size >= MOST_KEPT) commits.clear();
  commits.set(key, commit);
  return commit;
}

function parsed(text: string): LooseCommit {
  const end = text.indexOf('\n\n');
  const lines = text.slice(0, end).split('\n');
  const values = (name: string) =>
    lines.filter(line => line.startsWith(`${name} `)).map(line => line.slice(name.length + 1));
  return {
    tree: values('tree')[0] ?? '',
    parents: values('parent'),
    author: person(values('author')[0] ?? ''),
    committer: person(values('committer')[0] ?? ''),
    message: text.slice(end + 2),
    text,
  };
}

function person(line: string): CommitPerson {
  const [, name = '', email = ''] = /^(.*?) ?<(.*)> \d+ /.exec(line) ?? [];
  return { name, email };
}

/** The commit and all that it contains. @returns undefined: some of it is not there as a file. */
export function ancestorsIn(dir: string, id: string): ReadonlySet<string> | undefined {
  const found = new Set([id]);
  // A set gives what is added while it is read.
  for (const each of found) {
    const commit = looseCommit(dir, each);
    if (commit === undefined) return undefined;
    for (const parent of commit.parents) found.add(parent);
  }
  return found;
}

/** `git notes list` and `git notes show` from the files of a bare repository, as far as the notes are few and loose. */
import { readLooseObject } from '../../src/git/objects/loose-object.ts';
import { parseObjectId } from '../../src/git/objects/object-id.ts';
import { parseTree } from '../../src/git/objects/tree.ts';
import { readRef } from './bare-repository.ts';
import { looseCommit } from './loose-commits.ts';

/** Bytes. */
const MOST = 64 * 1024;

/** @param args after `notes`. @returns undefined: this one is for git */
export async function notesFromFiles(
  dir: string,
  [option = '', command, commit, ...more]: readonly string[],
): Promise<string | undefined> {
  const ref = /^--ref=([a-z]+)$/.exec(option)?.[1];
  if (ref === undefined || more.length > 0) return undefined;
  const notes = await notesOf(dir, `refs/notes/${ref}`);
  if (command === 'list' && commit === undefined)
    return notes && [...notes].map(([of, note]) => `${note} ${of}`).join('\n');
  const note = command === 'show' && commit !== undefined ? notes?.get(commit) : undefined;
  const found = note === undefined ? undefined : readLooseObject(dir, parseObjectId(note), MOST);
  return found?.kind === 'blob' ? found.content.toString().trimEnd() : undefined;
}

/** Commit → note, in the order of the commits. Undefined: not all are in one loose tree. */
async function notesOf(dir: string, ref: string): Promise<ReadonlyMap<string, string> | undefined> {
  const tip = await readRef(dir, ref);
  if (tip === undefined) return new Map();
  const id = looseCommit(dir, tip)?.tree;
  const tree = id === undefined ? undefined : readLooseObject(dir, parseObjectId(id), MOST);
  if (tree?.kind !== 'tree') return undefined;
  const entries = [...(await parseTree(tree.content)).values()];
  if (!entries.every(({ name, mode }) => /^[0-9a-f]{40}$/.test(name) && mode === '100644')) return undefined;
  return new Map(entries.map(entry => [entry.name, entry.id]));
}

/**
 * Adds paragraphs to the notes in a tree of notes, without a process: the tree is read and written as objects.
 *
 * git finds the note of a commit by its id, at any depth:
 *
 *     1f7a…                    the note of commit 1f7a…, in a small tree
 *     1f/7a…                   the same, where the tree has folders
 *
 * New notes go where the tree has room, so that one note more writes little however many there are; git reads any mixture.
 */
import type { ObjectId } from '../objects/object-id.ts';
import type { ObjectReader } from '../objects/object-reader.ts';
import type { ObjectWriter } from '../objects/object-writer.ts';
import type { Tree, TreeEntry } from '../objects/tree.ts';
import { OverBudget } from '../objects/tree-budget.ts';
import { writeTreeEntries } from '../objects/write-tree-entries.ts';

/** Of one repository. */
export interface NoteTreeDeps {
  readonly reader: Pick<ObjectReader, 'tree' | 'read'>;
  readonly writer: Pick<ObjectWriter, 'write'>;
}

/** What became of a paragraph. `tree` is the new one where it was added; the note's size is what refuses it. */
export type AddedNote =
  | { readonly kind: 'added'; readonly tree: ObjectId }
  | { readonly kind: 'already-there' }
  | { readonly kind: 'too-large'; readonly message: string };

/** Entries of a tree before new notes go into folders of it. */
const MOST_FLAT = 256;
/** Bytes of a note before a paragraph is refused: all who may push can write notes, and each addition reads the whole. */
const MOST_BYTES = 1024 * 1024;

/**
 * @param root undefined: there are no notes yet.
 * @throws MissingObject when the tree is not here; Error of the file system.
 */
export async function addToNotes(
  deps: NoteTreeDeps,
  root: ObjectId | undefined,
  commit: ObjectId,
  paragraph: string,
): Promise<AddedNote> {
  try {
    const way = await wayTo(deps, root, commit);
    const texts: string[] = [];
    for (const { note } of way) {
      const text = note === undefined ? '' : await textOf(deps, note);
      if (text === undefined) return tooLarge(commit);
      texts.push(text);
    }
    if (texts.some(text => holds(text, paragraph))) return { kind: 'already-there' };
    const found = way.findIndex(({ note }) => note !== undefined);
    const at = found < 0 ? way.length - 1 : found;
    const before = (texts[at] ?? '').replace(/\n+$/, '');
    const content = Buffer.from(`${before === '' ? '' : `${before}\n\n`}${paragraph.trim()}\n`);
    if (content.length > MOST_BYTES) return tooLarge(commit);
    const blob = await deps.writer.write('blob', content);
    return { kind: 'added', tree: await withNote(deps, way.slice(0, at + 1), blob) };
  } catch (error) {
    if (error instanceof OverBudget) return { kind: 'too-large', message: error.message };
    throw error;
  }
}

/** One tree on the way to a note. */
interface Stop {
  readonly tree: Tree;
  /** Its name in the tree above; of the first, empty. */
  readonly name: string;
  /** What is left of the commit's id: the name of its note here. */
  readonly rest: string;
  readonly note: TreeEntry | undefined;
}

/** From the root down through the folders that are there. */
async function wayTo(
  { reader }: NoteTreeDeps,
  root: ObjectId | undefined,
  commit: ObjectId,
): Promise<readonly Stop[]> {
  const way: Stop[] = [];
  let [name, rest]: [string, string] = ['', commit];
  for (let id = root; ; ) {
    const tree: Tree = id === undefined ? new Map() : await reader.tree(id);
    const entry = tree.get(rest);
    way.push({ tree, name, rest, note: entry?.kind === 'file' ? entry : undefined });
    const folder = tree.get(rest.slice(0, 2));
    if (folder?.kind !== 'directory' || rest.length <= 2) return way;
    [name, rest, id] = [folder.name, rest.slice(2), folder.id];
  }
}

/** Undefined: too large. */
async function textOf({ reader }: NoteTreeDeps, { id }: TreeEntry): Promise<string | undefined> {
  const read = await reader.read(id, MOST_BYTES);
  if (read.kind === 'missing') throw new Error(`note ${id} is not in the repository`);
  return read.kind === 'object' ? read.data.toString('utf8') : undefined;
}

/** Writes the last tree of the way with the note in it, and those above with that. */
async function withNote(deps: NoteTreeDeps, way: readonly Stop[], blob: ObjectId): Promise<ObjectId> {
  const last = way.at(-1);
  let entry: Pick<TreeEntry, 'name' | 'mode' | 'id'> = { name: last?.rest ?? '', mode: '100644', id: blob };
  if (last !== undefined && last.note === undefined && last.tree.size >= MOST_FLAT && last.rest.length > 2) {
    const id = await writeTreeEntries(deps.writer, [{ ...entry, name: last.rest.slice(2) }]);
    entry = { name: last.rest.slice(0, 2), mode: '40000', id };
  }
  for (const { tree, name } of way.toReversed()) {
    const others = [...tree.values()].filter(other => other.name !== entry.name);
    entry = { name, mode: '40000', id: await writeTreeEntries(deps.writer, [...others, entry]) };
  }
  return entry.id;
}

function holds(note: string, paragraph: string): boolean {
  return `\n\n${note.trim()}\n\n`.includes(`\n\n${paragraph.trim()}\n\n`);
}

function tooLarge(commit: ObjectId): AddedNote {
  return { kind: 'too-large', message: `the note of ${commit} is larger than ${MOST_BYTES} bytes` };
}

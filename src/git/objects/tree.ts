/**
 * Git trees as data. A path is bytes: git promises no encoding. Inside this room a name is a `latin1` string (one
 * character per byte, so that nothing is lost); {@link pathText} makes it presentable at the border.
 */
import { nextTurn, turnIsUsed } from '../../lib/turns.ts';
import { type ObjectId, parseObjectId } from './object-id.ts';

type EntryKind = 'file' | 'directory' | 'symlink' | 'submodule';

/** What a directory says about one of its members; the object itself may be missing here. */
export interface TreeEntry {
  /** Name within its directory, one character per byte. */
  readonly name: string;
  readonly kind: EntryKind;
  /** Octal digits as stored, e.g. `100755`. */
  readonly mode: string;
  readonly id: ObjectId;
}

/** Entries of a tree object by name. */
export type Tree = ReadonlyMap<string, TreeEntry>;

/** Entries read between two readings of the clock. */
const ENTRIES_AT_ONCE = 1_000;

/** A directory of a million entries takes a second to read: the event loop gets its turns. @throws Error when the bytes are not a tree. */
export async function parseTree(bytes: Buffer): Promise<Tree> {
  const entries = new Map<string, TreeEntry>();
  for (let at = 0; at < bytes.length; ) {
    if (entries.size % ENTRIES_AT_ONCE === ENTRIES_AT_ONCE - 1 && turnIsUsed()) await nextTurn();
    const blank = bytes.indexOf(0x20, at);
    const end = bytes.indexOf(0, blank);
    if (blank < 0 || end < 0 || end + 21 > bytes.length) throw new Error('malformed tree object');
    const mode = bytes.toString('latin1', at, blank);
    const name = bytes.toString('latin1', blank + 1, end);
    const id = parseObjectId(bytes.toString('hex', end + 1, end + 21));
    entries.set(name, { name, kind: kindOf(mode), mode, id });
    at = end + 21;
  }
  return entries;
}

function kindOf(mode: string): EntryKind {
  if (/^0?40000$/.test(mode)) return 'directory';
  if (mode === '120000') return 'symlink';
  return mode === '160000' ? 'submodule' : 'file';
}

/**
 * The path as people and matchers see it: UTF-8 where it is UTF-8, otherwise quoted as `git` quotes it (`"caf\351"`), so that
 * two different paths never have the same text.
 */
export function pathText(path: string): string {
  const bytes = Buffer.from(path, 'latin1');
  const text = bytes.toString('utf8');
  if (Buffer.from(text).equals(bytes)) return text;
  const escaped = path.replaceAll(/["\\]/g, '\\$&');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the bytes git escapes
  return `"${escaped.replaceAll(/[\u0000-\u001f\u007f-\u00ff]/g, byte => `\\${byte.charCodeAt(0).toString(8).padStart(3, '0')}`)}"`;
}

/** The inverse of {@link pathText} for paths people write: UTF-8 to one character per byte. */
export function pathBytes(text: string): string {
  return Buffer.from(text).toString('latin1');
}

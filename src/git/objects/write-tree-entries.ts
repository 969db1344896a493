import type { ObjectId } from './object-id.ts';
import type { ObjectWriter } from './object-writer.ts';
import type { TreeEntry } from './tree.ts';

/** Writes a tree of these entries, in any order: git sorts a directory as if its name ended with a slash. */
export function writeTreeEntries(
  writer: Pick<ObjectWriter, 'write'>,
  entries: readonly Pick<TreeEntry, 'name' | 'mode' | 'id'>[],
): Promise<ObjectId> {
  const key = ({ name, mode }: (typeof entries)[number]) => (mode.endsWith('40000') ? `${name}/` : name);
  const sorted = entries.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
  const parts = sorted.flatMap(({ name, mode, id }) => [
    Buffer.from(`${mode} ${name}\0`, 'latin1'),
    Buffer.from(id, 'hex'),
  ]);
  return writer.write('tree', Buffer.concat(parts));
}

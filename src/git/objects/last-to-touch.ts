/** Finds the change of a chain that a conflict is with, by the conflicting files. */
import type { ObjectId } from './object-id.ts';
import type { ObjectReader } from './object-reader.ts';
import { pathBytes } from './tree.ts';

/** Files of a conflict that are compared with the changes ahead. */
const LOOKED_FOR = 10;

/**
 * The last of the changes that changed one of the files.
 *
 * @param trail the state before any change, then the state after each change, with that change.
 */
export async function lastToTouch(
  reader: Pick<ObjectReader, 'entry'>,
  trail: readonly { readonly tree: ObjectId; readonly change: ObjectId | null }[],
  files: readonly string[],
): Promise<ObjectId | undefined> {
  const paths = files.slice(0, LOOKED_FOR).map(pathBytes);
  const entriesOf = (tree: ObjectId) =>
    Promise.all(paths.map(async path => (await reader.entry(tree, path))?.id));
  let after: Awaited<ReturnType<typeof entriesOf>> | undefined;
  let culprit: ObjectId | null = null;
  for (const { tree, change } of trail.toReversed()) {
    const before = await entriesOf(tree);
    if (after?.some((id, index) => id !== before[index]) === true) return culprit ?? undefined;
    after = before;
    culprit = change;
  }
  return undefined;
}

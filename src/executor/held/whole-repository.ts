/** Gives a checkout the objects that it used from the repository cache, which will not keep them for it. */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type BuildPlaces, makeDirectory } from '../build-places.ts';
import { CHECKOUT_CONFIG } from '../checkout.ts';
import { type OwnProcesses, WorkspaceFailure } from '../git-process.ts';
import type { Owner } from '../sandbox/stage.ts';
import { tamperedPlace, type Workspace } from '../workspace.ts';

interface RepositoryPlace {
  readonly places: BuildPlaces;
  readonly owner: Owner | null;
  /** Bytes that it may take. */
  readonly mostBytes: number;
}

/**
 * All that its branches, its HEAD, their logs and its index lead to is packed anew. Its settings are those of a new checkout.
 *
 * @returns one line, where git will not find everything: the job has replaced parts of the repository or broken it, or it is too large.
 */
export async function makeWhole(
  own: OwnProcesses,
  { tree, gitDir }: Workspace['repositories'][number],
  { places, owner, mostBytes }: RepositoryPlace,
): Promise<string | undefined> {
  const git = join(tree, '.git');
  const objects = join(git, 'objects');
  const name = relative(places.work, tree);
  const replaced = tamperedPlace(places, [join(objects, 'info'), join(objects, 'pack')]);
  if (replaced !== undefined) return `git does not know ${name}: the job removed or replaced ${replaced}`;
  writeFileSync(join(git, 'config'), CHECKOUT_CONFIG, { flag: 'wx' });
  if (gitDir === null) return undefined;
  rmSync(join(objects, 'info', 'alternates'), { force: true, recursive: true });
  const fresh = join(places.layers, 'objects');
  rmSync(fresh, { force: true, recursive: true });
  for (const each of [fresh, join(fresh, 'info'), join(fresh, 'pack')]) makeDirectory(each, 0o755, owner);
  try {
    await own.pack({ tree, gitDir }, fresh, owner, mostBytes);
  } catch (error) {
    if (!(error instanceof WorkspaceFailure)) throw error;
    return `git finds not all objects of ${name}: ${error.message}`;
  }
  await own.system(['rm', '-rf', '--', objects]);
  renameSync(fresh, objects);
  return undefined;
}

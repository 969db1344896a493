import { parseObjectId } from '../git/objects/object-id.ts';
import type { ObjectReader } from '../git/objects/object-reader.ts';
import type { BranchConfig } from '../model/merge.ts';
import type { BranchName, CommitId, ProjectKey } from '../model/project.ts';
import { type ConfigEntry, findConfig, readConfig, sameConfig } from './config-files.ts';

/** A tested commit and the branch tip whose configuration the scheduler has. */
export interface Compared {
  readonly project: ProjectKey;
  readonly branch: BranchName;
  readonly commit: CommitId;
  /** null: there is no such branch (any more), or its configuration is read in any case: everything counts as changed. */
  readonly against: CommitId | null;
}

/**
 * The configuration at each commit where it differs from the tip's. Only file ids are compared; equal ones are not read.
 *
 * @param extra further places of configuration, as {@link findConfig} takes them.
 */
export async function changedConfig(
  reader: ObjectReader,
  compared: readonly Compared[],
  extra: readonly string[],
): Promise<readonly BranchConfig[]> {
  const results = await Promise.all(
    compared.map(async ({ project, branch, commit, against }) => {
      const [fresh, known] = await Promise.all([
        configAt(reader, commit, extra),
        against === null ? undefined : configAt(reader, against, extra),
      ]);
      if (known !== undefined && sameConfig(fresh, known)) return [];
      return [{ project, branch, commit, files: await readConfig(reader, fresh) }];
    }),
  );
  return results.flat();
}

/** Lists the configuration at a commit without reading files. @throws MissingObject when the commit is not in the mirror. */
export async function configAt(
  reader: ObjectReader,
  commit: CommitId,
  extra: readonly string[],
): Promise<readonly ConfigEntry[]> {
  const { tree } = await reader.commit(parseObjectId(commit));
  return findConfig(reader, tree, extra);
}

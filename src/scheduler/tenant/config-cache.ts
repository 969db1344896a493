/**
 * The stored copies of configuration files: one node per branch and content, named for the hash of the files and never changed. A
 * layout's record lists the nodes it was built from, so a reader gets exactly those files or finds one missing, which means that
 * there is a newer layout; a mixture of two layouts cannot be read.
 *
 *     …/cache/config/acme/local%2Fapp/master@3f2a91c0…
 *
 * Only the holder of the tenant's fence writes here: first the new files, then the record; then it removes the old files.
 */
import { sha256 } from '../../lib/ids.ts';
import { isBrokenRecord, isNewerRecord, newerAt, RecordError } from '../../model/codec/record.ts';
import { branchConfigCodec } from '../../model/codec/records.ts';
import type { LayoutSources } from '../../model/layout.ts';
import type { BranchConfig } from '../../model/merge.ts';
import type { BranchName, ProjectKey, TenantName } from '../../model/project.ts';
import { baseName } from '../../store/node-path.ts';
import type { StorePaths } from '../../store/paths.ts';
import { create, type Operation, remove, type Store, type StoredNode } from '../../store/port.ts';
import type { Quarantine } from '../../store/quarantine.ts';

/** The configuration of one branch, with the hash that its node is named for. */
export interface CachedConfig extends BranchConfig {
  /** 32 hex digits over paths, texts and problems: equal configuration makes an equal layout. */
  readonly digest: string;
}

type Branches = ReadonlyMap<ProjectKey, ReadonlyMap<BranchName, CachedConfig>>;

const READ_AT_ONCE = 100;

/** The commit is not hashed: another commit with the same files is the same configuration. */
export function hashed(config: BranchConfig): CachedConfig {
  const { project, branch, commit, files } = config;
  const text = JSON.stringify(files.map(({ path, text, problem }) => [path, text ?? null, problem ?? null]));
  return { project, branch, commit, files, digest: sha256(text).slice(0, 32) };
}

/**
 * The files a layout was built from.
 *
 * @param known configuration in memory: only the rest is read.
 * @param quarantine called with an unreadable node, by callers that then read the files again; default: the node stays.
 * @returns undefined when a node is gone, because the record that names it is not the newest one, or when a node is unreadable.
 * @throws RecordError `newer` when an upgraded process wrote one.
 */
export async function readConfigs(
  tenant: TenantName,
  sources: LayoutSources,
  known: Branches,
  store: Pick<Store, 'getMany'>,
  paths: StorePaths,
  quarantine: Quarantine['move'] = async () => {},
): Promise<Branches | undefined> {
  const wanted = sources.projects.flatMap(({ project, branches }) =>
    branches.map(({ branch, digest }) => ({ project, branch, digest })),
  );
  const missing = wanted.filter(
    ({ project, branch, digest }) => known.get(project)?.get(branch)?.digest !== digest,
  );
  const read = new Map<string, CachedConfig>();
  for (let at = 0; at < missing.length; at += READ_AT_ONCE) {
    const places = missing.slice(at, at + READ_AT_ONCE).map(({ project, branch, digest }) => ({
      digest,
      path: paths.cachedConfig(tenant, project, branch, digest),
    }));
    const nodes = await store.getMany(places.map(({ path }) => path));
    for (const [index, { digest, path }] of places.entries()) {
      const node = nodes[index];
      if (node === undefined) return undefined;
      const config = decoded(path, node);
      if (config instanceof RecordError) {
        await quarantine(path, node, config);
        return undefined;
      }
      read.set(path, { ...config, digest });
    }
  }
  const found = new Map<ProjectKey, Map<BranchName, CachedConfig>>(
    sources.projects.map(({ project }) => [project, new Map<BranchName, CachedConfig>()]),
  );
  for (const { project, branch, digest } of wanted) {
    const config =
      read.get(paths.cachedConfig(tenant, project, branch, digest)) ?? known.get(project)?.get(branch);
    if (config !== undefined) found.get(project)?.set(branch, config);
  }
  return found;
}

function decoded(path: string, node: StoredNode): BranchConfig | RecordError {
  try {
    return branchConfigCodec.decode(node.data);
  } catch (error) {
    if (isBrokenRecord(error)) return error;
    throw isNewerRecord(error) ? newerAt(path, error) : error;
  }
}

/** In this order a crash leaves unused files at most, never a record that names missing ones. */
export interface CacheChange {
  /** To be committed before the record that names the files. */
  readonly before: readonly Operation[];
  /** To be committed after it. */
  readonly after: readonly Operation[];
}

/** Operations that make the stored files of these projects equal to `branches`, from any state. Call under the tenant's fence. */
export async function cacheChange(
  tenant: TenantName,
  projects: Iterable<ProjectKey>,
  branches: Branches,
  store: Store,
  paths: StorePaths,
): Promise<CacheChange> {
  const before: Operation[] = [];
  const after: Operation[] = [];
  for (const project of projects) {
    const base = paths.cachedConfigs(tenant, project);
    const present = new Set(await store.children(base));
    for (const config of branches.get(project)?.values() ?? []) {
      const path = paths.cachedConfig(tenant, project, config.branch, config.digest);
      if (!present.delete(baseName(path))) before.push(create(path, encodeConfig(config)));
    }
    after.push(...[...present].map(name => remove(`${base}/${name}`)));
  }
  return { before, after };
}

function encodeConfig({ project, branch, commit, files }: CachedConfig): Uint8Array {
  return branchConfigCodec.encode({ project, branch, commit, files });
}

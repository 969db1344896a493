/**
 * Brings small new commits from a repository on this machine's disk without a process. A push leaves its objects there as loose files,
 * and git starts six processes to copy three of them:
 *
 *     where is for/master/login?   1f7a…                        readLocalRepository
 *     1f7a… and what it leads to, as far as the mirror lacks it → copied, what they lead to before them
 *     refs/tips/refs%2Fheads%2Ffor%2Fmaster%2Flogin             → 1f7a…
 *
 * What the mirror has is whole: with a commit or tree it has all that it leads to, as after a fetch. All that is not plain is left to
 * git, which has the last word and the better messages: packed objects, many or large ones, refs that lead elsewhere or are gone.
 */
import { writeTips } from '../disk/write-tips.ts';
import { parseCommit } from '../objects/commit.ts';
import { type LooseObject, readLooseObject } from '../objects/loose-object.ts';
import type { ObjectId } from '../objects/object-id.ts';
import type { ObjectKind } from '../objects/object-writer.ts';
import type { RefName } from '../objects/ref-name.ts';
import { parseTree } from '../objects/tree.ts';
import type { Remote } from '../process/remote.ts';
import { readLocalRepository } from './local-refs.ts';
import { type FetchDeps, moveTips, tipRef, type Want } from './run-fetch.ts';

/** Of one fetch. git keeps a push of more objects as a pack. */
const MOST_OBJECTS = 100;
/** Bytes of content, all objects together. */
const MOST_BYTES = 1024 * 1024;
/** Of which the mirror is asked whether it has them: a folder of ten thousand files is for git. */
const MOST_ASKED = 2_000;
const MOST_WANTS = 50;

/**
 * @param wants those with a commit are not in the mirror.
 * @returns `brought`: all of it is here, and our refs are where the remote's are. `not-served`: to be fetched by git.
 */
export async function fetchFromDisk(
  deps: FetchDeps,
  remote: Remote,
  wants: readonly Want[],
): Promise<'brought' | 'not-served'> {
  if (wants.length > MOST_WANTS) return 'not-served';
  const refs = [...new Set(wants.map(({ ref }) => ref))];
  const found = await readLocalRepository(remote, refs);
  const tips = found === undefined ? undefined : wantedTips(wants, found.refs);
  if (found === undefined || tips === undefined) return 'not-served';
  const held = await Promise.all(refs.map(ref => deps.reader.resolve(tipRef(ref))));
  const moved = new Map([...tips].filter(([, tip], at) => held[at] !== tip));
  const objects = await brought(deps, found.gitDir, moved);
  if (objects === 'not-served') return objects;
  if (objects === 'here') deps.onListing();
  for (const ref of refs) deps.absent.delete(ref);
  return 'brought';
}

/** Objects and refs. What the file system refuses (a full disk) is for git, too, which says so in words that are known. */
async function brought(
  deps: FetchDeps,
  gitDir: string,
  moved: ReadonlyMap<RefName, ObjectId>,
): Promise<'here' | 'copied' | 'not-served'> {
  try {
    const objects = await bringObjects(deps, gitDir, [...moved.values()]);
    if (objects === 'not-served') return objects;
    const places = new Map([...moved].map(([ref, tip]) => [tipRef(ref), tip]));
    if (!(await writeTips(deps.gitDir, places))) await moveTips(deps, moved);
    return objects;
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) return 'not-served';
    throw error;
  }
}

/** In the order of the refs. Undefined: one is gone, or is not where a want expects it. */
function wantedTips(
  wants: readonly Want[],
  found: ReadonlyMap<RefName, ObjectId>,
): ReadonlyMap<RefName, ObjectId> | undefined {
  const tips = new Map<RefName, ObjectId>();
  for (const { ref, commit } of wants) {
    const tip = found.get(ref);
    if (tip === undefined || (commit !== undefined && commit !== tip)) return undefined;
    tips.set(ref, tip);
  }
  return tips;
}

/** @returns `here`: there was nothing to copy. `not-served`: nothing has been copied. @throws Error of the file system. */
async function bringObjects(
  { reader, writer, onFetch }: FetchDeps,
  gitDir: string,
  commits: readonly ObjectId[],
): Promise<'here' | 'copied' | 'not-served'> {
  const missing = await missingObjects(reader, gitDir, commits);
  if (missing === undefined) return 'not-served';
  if (missing.size === 0) return 'here';
  onFetch();
  const written = new Set<ObjectId>();
  const write = async (id: ObjectId): Promise<void> => {
    const object = missing.get(id);
    if (object === undefined || written.has(id)) return;
    written.add(id);
    for (const [child] of object.leadsTo) await write(child);
    await writer.write(object.kind, object.content);
  };
  for (const commit of commits) await write(commit);
  return 'copied';
}

type Missing = LooseObject & { readonly leadsTo: readonly Child[] };
type Child = readonly [id: ObjectId, kind: ObjectKind];

/** Undefined: some of them are for git. */
async function missingObjects(
  reader: FetchDeps['reader'],
  gitDir: string,
  commits: readonly ObjectId[],
): Promise<ReadonlyMap<ObjectId, Missing> | undefined> {
  const found = new Map<ObjectId, Missing>();
  const seen = new Map<ObjectId, ObjectKind>();
  let bytes = 0;
  let level: readonly Child[] = commits.map(id => [id, 'commit']);
  while (level.length > 0) {
    for (const [id, kind] of level) seen.set(id, kind);
    if (seen.size > MOST_ASKED) return undefined;
    const next: Child[] = [];
    for (const id of await reader.missing(level.map(([each]) => each))) {
      const object = readLooseObject(gitDir, id, MOST_BYTES - bytes);
      if (object === undefined || object.kind !== seen.get(id) || found.size >= MOST_OBJECTS)
        return undefined;
      bytes += object.content.length;
      const leadsTo = await childrenOf(object);
      if (leadsTo === undefined) return undefined;
      found.set(id, { ...object, leadsTo });
      next.push(...leadsTo.filter(([child]) => !seen.has(child)));
    }
    level = next;
  }
  return found;
}

/** Undefined: git will say what is wrong with it. */
async function childrenOf({ kind, content }: LooseObject): Promise<readonly Child[] | undefined> {
  if (kind === 'blob') return [];
  try {
    return kind === 'commit' ? childrenOfCommit(content) : await childrenOfTree(content);
  } catch {
    return undefined;
  }
}

function childrenOfCommit(content: Buffer): readonly Child[] {
  const { tree, parents } = parseCommit(content);
  return [[tree, 'tree'], ...parents.map(parent => [parent, 'commit'] as const)];
}

async function childrenOfTree(content: Buffer): Promise<readonly Child[]> {
  const entries = [...(await parseTree(content)).values()].filter(({ kind }) => kind !== 'submodule');
  return entries.map(({ id, kind }) => [id, kind === 'directory' ? 'tree' : 'blob']);
}

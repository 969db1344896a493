/**
 * Fetches commits by their ids while another `git fetch` asks where refs are now. Neither needs the other's answer, and a request
 * that wants both waits for the longer one:
 *
 *     main and pull/7    hello → list → objects          three round trips in a row
 *     1a2b… of pull/7    hello → objects                 two beside two, while main is where it was
 *     main               hello → list
 *
 * It costs a process and a round trip more, so it is for hosts behind HTTP only, and for mirrors that know the refs: into a new one
 * both would bring the same objects.
 */
import { fetchExisting } from './fetch-existing.ts';
import type { ObjectId } from './object-id.ts';
import type { RefName } from './ref-name.ts';
import type { Remote } from './remote.ts';
import type { RemoteFailure } from './remote-failure.ts';
import { type FetchDeps, fetchRefs, tipRef, type Want } from './run-fetch.ts';

/** A commit that is not in the mirror, and a ref that leads to it. */
interface CommitWant {
  readonly ref: RefName;
  readonly commit: ObjectId;
}

/** Wants that are fetched side by side. */
export interface BesideWants {
  /** Not empty. */
  readonly commits: readonly CommitWant[];
  /** Wanted as they are now; not empty. */
  readonly refs: readonly Want[];
}

/** @param wants nothing of it is in the mirror. @returns undefined: they are to be fetched together. */
export async function besideWants(
  deps: FetchDeps,
  remote: Remote,
  wants: readonly Want[],
): Promise<BesideWants | undefined> {
  if (!/^https?:/i.test(remote.url)) return undefined;
  const commits = wants.flatMap(({ ref, commit }) => (commit === undefined ? [] : [{ ref, commit }]));
  const refs = wants.filter(({ commit }) => commit === undefined);
  if (commits.length === 0 || refs.length === 0) return undefined;
  const held = await Promise.all(refs.map(({ ref }) => deps.reader.resolve(tipRef(ref))));
  const isNew = refs.some(({ ref }, at) => held[at] === undefined && !deps.absent.has(ref));
  return isNew ? undefined : { commits, refs };
}

/**
 * Commits that the host does not give by id are fetched by their refs.
 *
 * @param bringRefs runs beside the fetch of the commits.
 * @returns undefined: what the remote has is here, except commits that neither their id nor their ref leads to.
 */
export async function bringBeside(
  deps: FetchDeps,
  remote: Remote,
  { commits, refs }: BesideWants,
  bringRefs: () => Promise<RemoteFailure | undefined>,
): Promise<RemoteFailure | undefined> {
  const [byId, byRef] = await Promise.all([
    fetchRefs(deps, remote, refspecsOf(commits, new Set(refs.map(({ ref }) => ref)))),
    bringRefs(),
  ]);
  if (byRef !== undefined || byId?.nature !== 'gone-ref') return byRef ?? byId;
  return fetchExisting(deps, remote, [...new Set(commits.map(({ ref }) => ref))]);
}

/** Our ref for each commit: that of its ref, unless the ref leads elsewhere for another want. */
function refspecsOf(commits: readonly CommitWant[], taken: ReadonlySet<RefName>): readonly string[] {
  const places = new Map<string, ObjectId>();
  for (const { ref, commit } of commits) {
    const held = places.get(tipRef(ref));
    const isFree = !taken.has(ref) && (held === undefined || held === commit);
    places.set(tipRef(isFree ? ref : commit), commit);
  }
  return [...places].map(([place, commit]) => `+${commit}:${place}`);
}

/**
 * Fetches commits apart that could not be fetched together because one of them is too large:
 *
 *     a b c d ✗  →  a b ✓   c d ✗  →  c ✗   d ✓
 *
 * One too large commit among n costs about 2·log2(n) fetches, and there are never more than 2n. Commits are fetched by id,
 * because a ref may move in between.
 */
import type { ObjectId } from '../objects/object-id.ts';
import type { RefName } from '../objects/ref-name.ts';
import type { Remote } from '../process/remote.ts';
import type { RemoteFailure } from '../process/remote-failure.ts';
import { lsRemote, type RemoteRefs } from './remote-refs.ts';
import { type FetchDeps, fetchRefs, forgetTips, tipRef, type Want } from './run-fetch.ts';

/** What fetching apart came to. Without a failure, all that the remote has is here but what is too large. */
export interface Brought {
  /** Why it was given up; undefined: all was tried. */
  readonly failure: RemoteFailure | undefined;
  readonly tooLarge: {
    readonly commits: ReadonlySet<ObjectId>;
    /** Refs wanted as they are now that point at such a commit. */
    readonly refs: ReadonlyMap<RefName, ObjectId>;
  };
}

const NO_REFS: ReadonlyMap<RefName, ObjectId> = new Map();

/**
 * @param wants what could not be fetched together, or has a ref that led to a too large commit before. Refs wanted without a commit
 *   are listed first, because only ids are fetched.
 */
export async function bringApart(deps: FetchDeps, remote: Remote, wants: readonly Want[]): Promise<Brought> {
  const refs = new Set(wants.filter(({ commit }) => commit === undefined).map(({ ref }) => ref));
  const tips = await tipsOf(deps, remote, [...refs]);
  if (tips.kind !== 'refs') return { failure: tips, tooLarge: { commits: new Set(), refs: NO_REFS } };
  const places = placesOf(wants, tips.refs);
  const known = [...places.keys()].filter(deps.tooLarge.has);
  const others = [...places.keys()].filter(commit => !known.includes(commit));
  const { failure, tooLarge } = await fetchByHalves(
    // Without those that are known the others were not tried together yet.
    known.length > 0 ? [others] : halves(others),
    commits =>
      fetchRefs(
        deps,
        remote,
        commits.flatMap(commit => (places.get(commit) ?? []).map(place => `+${commit}:${place}`)),
      ),
  );
  for (const commit of tooLarge) deps.tooLarge.add(commit);
  const commits = new Set([...known, ...tooLarge]);
  for (const ref of refs) {
    const tip = tips.refs.get(ref);
    deps.tooLarge.noteRef(ref, tip !== undefined && commits.has(tip) ? tip : undefined);
  }
  return { failure, tooLarge: { commits, refs: tips.refs } };
}

/** Where refs are now; our copies of deleted ones are removed. */
async function tipsOf(
  deps: FetchDeps,
  remote: Remote,
  refs: readonly RefName[],
): Promise<RemoteRefs | RemoteFailure> {
  if (refs.length === 0) return { kind: 'refs', refs: NO_REFS };
  deps.onListing();
  const listing = await lsRemote(deps.git, remote, refs);
  if (listing.kind !== 'refs') return listing;
  const wanted = new Map([...listing.refs].filter(([ref]) => refs.includes(ref)));
  const gone = refs.filter(ref => !wanted.has(ref));
  if (gone.length > 0) await forgetTips(deps, gone);
  return { kind: 'refs', refs: wanted };
}

/** Our refs for each commit: the ref it is wanted from, unless another commit of that ref is wanted, too. */
function placesOf(
  wants: readonly Want[],
  tips: ReadonlyMap<RefName, ObjectId>,
): ReadonlyMap<ObjectId, readonly string[]> {
  const places = new Map<ObjectId, string[]>();
  for (const [ref, commit] of tips) places.set(commit, [...(places.get(commit) ?? []), tipRef(ref)]);
  const taken = new Set<RefName>(tips.keys());
  for (const { ref, commit } of wants) {
    if (commit === undefined || places.has(commit)) continue;
    places.set(commit, [tipRef(taken.has(ref) ? commit : ref)]);
    taken.add(ref);
  }
  return places;
}

interface Halved {
  readonly tooLarge: readonly ObjectId[];
  /** Why it was given up before the end. */
  readonly failure: RemoteFailure | undefined;
}

/** @param fetch of commits by id; one that the remote does not have is no failure in the end. */
async function fetchByHalves(
  groups: readonly (readonly ObjectId[])[],
  fetch: (commits: readonly ObjectId[]) => Promise<RemoteFailure | undefined>,
): Promise<Halved> {
  const tooLarge: ObjectId[] = [];
  const open = groups.filter(group => group.length > 0);
  for (let group = open.pop(); group !== undefined; group = open.pop()) {
    const failure = await fetch(group);
    if (failure === undefined) continue;
    if (failure.reason !== 'too-large' && failure.nature !== 'gone-ref') return { tooLarge, failure };
    if (group.length > 1) open.push(...halves(group));
    else if (failure.reason === 'too-large') tooLarge.push(...group);
  }
  return { tooLarge, failure: undefined };
}

/** The first one last, as the next to be taken. */
function halves(commits: readonly ObjectId[]): (readonly ObjectId[])[] {
  const middle = Math.ceil(commits.length / 2);
  return [commits.slice(middle), commits.slice(0, middle)].filter(half => half.length > 0);
}

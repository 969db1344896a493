/**
 * Fetches those refs of a batch that exist at the remote. One that does not exist makes `git fetch` fetch nothing, so the others
 * are fetched once more, after a listing that says which those are:
 *
 *     fetch main, master, pull/7 ✗ (no master)  →  list the branches  →  fetch main, pull/7 ✓
 *
 * A ref that did not exist the last time is likely to be absent again (a project has no branch of the change's name). Then the
 * listing comes first, and nothing is fetched of what it shows unchanged:
 *
 *     list the branches: main as it is here, no master  →  fetch pull/7, if its commit is not here
 */
import type { ObjectId } from '../objects/object-id.ts';
import type { RefName } from '../objects/ref-name.ts';
import type { Remote } from '../process/remote.ts';
import type { RemoteFailure } from '../process/remote-failure.ts';
import { lsRemote, type RemoteRefs } from './remote-refs.ts';
import { type FetchDeps, fetchRefs, forgetTips, moveTips, refspec, tipRef } from './run-fetch.ts';

/** Refs may be deleted while they are fetched: each round loses at least one, but a host's replicas may disagree for ever. */
const MOST_LISTINGS = 5;

/**
 * Fetches those of `refs` that exist at the remote and removes our copies of the others. A ref may be deleted between listing and
 * fetch (landing deletes proposals): then the remote is listed again.
 */
export async function fetchExisting(
  deps: FetchDeps,
  remote: Remote,
  refs: readonly RefName[],
): Promise<RemoteFailure | undefined> {
  let failure = await fetchRefs(deps, remote, refs.map(refspec));
  // A host lists its branches alone for a fraction of what all refs take; the others nearly always exist.
  let listed: readonly RefName[] = refs.filter(isBranch);
  for (let listings = 0; listings < MOST_LISTINGS && failure?.nature === 'gone-ref'; listings += 1) {
    if (listed.length === 0) listed = refs;
    const listing = await listRefs(deps, remote, listed);
    if (listing.kind !== 'refs') return listing;
    const asked = new Set(listed);
    const rest = refs.filter(ref => !asked.has(ref) || listing.refs.has(ref));
    failure = rest.length === 0 ? undefined : await fetchRefs(deps, remote, rest.map(refspec));
    listed = refs;
  }
  return failure;
}

/**
 * The same, listing first. A ref that leads to a commit which is here already (what has landed from here) is not fetched.
 *
 * @param asTheyAre refs whose present commit is wanted. The others are wanted for a commit that is not here.
 */
export async function fetchListed(
  deps: FetchDeps,
  remote: Remote,
  refs: readonly RefName[],
  asTheyAre: ReadonlySet<RefName>,
): Promise<RemoteFailure | undefined> {
  const listing = await listRefs(deps, remote, [...asTheyAre]);
  if (listing.kind !== 'refs') return listing;
  const here = new Set<RefName>();
  const moved = new Map<RefName, ObjectId>();
  for (const ref of asTheyAre) {
    const [tip, held] = [listing.refs.get(ref), await deps.reader.resolve(tipRef(ref))];
    if (tip === undefined || tip === held) here.add(ref);
    // An annotated tag is fetched: it is more than its commit.
    else if ((await deps.reader.resolve(tip)) === tip) moved.set(ref, tip);
  }
  await moveTips(deps, moved);
  const changed = refs.filter(ref => !here.has(ref) && !moved.has(ref));
  return changed.length === 0 ? undefined : fetchExisting(deps, remote, changed);
}

/** Where refs are now. Our copies of those that are gone are removed. */
async function listRefs(
  deps: FetchDeps,
  remote: Remote,
  refs: readonly RefName[],
): Promise<RemoteRefs | RemoteFailure> {
  deps.onListing();
  const listing = await lsRemote(deps.git, remote, refs);
  if (listing.kind !== 'refs') return listing;
  const gone = refs.filter(ref => !listing.refs.has(ref));
  const held = await Promise.all(gone.map(ref => deps.reader.resolve(tipRef(ref))));
  const lost = gone.filter((_, at) => held[at] !== undefined);
  if (lost.length > 0) await forgetTips(deps, lost);
  for (const ref of refs) {
    if (listing.refs.has(ref)) deps.absent.delete(ref);
    else deps.absent.add(ref);
  }
  return listing;
}

function isBranch(ref: RefName): boolean {
  return ref.startsWith('refs/heads/');
}

/**
 * A mirror of a code host, where it has one, is asked for commits first, and only by their ids. So it does not matter how far it
 * lags, or what it says of branches: what it lacks is fetched from the host at once, without waiting for its next replication.
 *
 * Its failures are no trouble of the host. It has less time than the host, and rests after a failure: a mirror that hangs holds up fetches
 * for half a minute every five.
 */
import type { ObjectId } from '../objects/object-id.ts';
import type { Mirror } from '../process/remote.ts';
import { type FetchDeps, fetchRefs, refspec } from './run-fetch.ts';

/** Milliseconds for all commits of a fetch. */
const PATIENCE = 30_000;

/** Fetches what it has of them. A commit that it lacks is no failure: then git fetches none, and the host gives them all. */
export async function fetchFromMirror(
  deps: FetchDeps,
  mirror: Mirror,
  commits: readonly ObjectId[],
): Promise<void> {
  if (commits.length === 0 || !deps.mirrorRest.isOver()) return;
  const failure = await fetchRefs(deps, mirror, [...new Set(commits)].map(refspec), PATIENCE);
  if (failure === undefined || failure.nature === 'gone-ref') return;
  deps.mirrorRest.begin();
  deps.onMirrorFailure(failure);
}

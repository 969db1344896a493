/**
 * Brings commits into a mirror, with as few requests to the remote as possible.
 *
 * A remote ref is kept under a flat name of our own (`refs/tips/refs%2Fheads%2Fmain`): at the remote `a` may become `a/b`, which
 * no ref store takes, and a hostile name must not collide with ours. These refs keep the objects alive and show the remote what
 * the mirror has.
 *
 * One batch is one `git fetch` if all its refs exist. When one does not, git fetches nothing: then the remote lists its refs, and
 * the rest is fetched (`fetch-existing.ts`). A commit that its ref no longer leads to (there was another push) is fetched by id.
 * A repository on this disk is read without a process, as far as what is new there is small (`fetch-from-disk.ts`). A host behind
 * HTTP is asked over a connection that stays open, as far as it serves that (`fetch-over-wire.ts`). A mirror of the
 * host, where the remote names one, is asked for known commits before it (`fetch-from-mirror.ts`).
 *
 * A commit that takes more memory than git may use fails alone: the rest is fetched apart (`fetch-apart.ts`), and that commit is
 * not fetched again for a while (`too-large.ts`).
 */

import type { ObjectId } from '../objects/object-id.ts';
import type { RefName } from '../objects/ref-name.ts';
import type { Remote } from '../process/remote.ts';
import { type RemoteFailure, refusedUrl } from '../process/remote-failure.ts';
import { type Brought, bringApart } from './fetch-apart.ts';
import { fetchExisting, fetchListed } from './fetch-existing.ts';
import { fetchFromDisk } from './fetch-from-disk.ts';
import { fetchFromMirror } from './fetch-from-mirror.ts';
import { fetchOverWire } from './fetch-over-wire.ts';
import { readLocalRefs } from './local-refs.ts';
import { type FetchDeps, fetchRefs, refspec, tipRef, type Want } from './run-fetch.ts';
import { type TooLarge, type TooLargeRef, tooLargeFailure } from './too-large.ts';

/** Of one request. After a failure some of its commits may be here all the same. */
export type FetchOutcome =
  | {
      readonly kind: 'fetched';
      /** One per want: its `commit`, or where its ref points now (behind an annotated tag); undefined: the remote does not have it. */
      readonly commits: readonly (ObjectId | undefined)[];
    }
  | (RemoteFailure & {
      /** Why it failed, when there was no other reason. */
      readonly tooLarge?: TooLarge;
    });

/** What one caller wants; many share one fetch. */
export interface FetchRequest {
  readonly remote: Remote;
  readonly wants: readonly Want[];
}

/** Serves many requests with one fetch; gives one outcome per request. */
export async function fetchTogether(
  deps: FetchDeps,
  requests: readonly FetchRequest[],
): Promise<readonly FetchOutcome[]> {
  // Credentials may have been renewed: the latest request has the best.
  const remote = requests.at(-1)?.remote;
  if (remote === undefined) return [];
  const wants = requests.flatMap(request => request.wants);
  const known = new Set(wants.flatMap(({ commit }) => commit ?? []).filter(deps.tooLarge.has));
  const open = await unservedByMirror(deps, remote, await unserved(deps, wants, known), known);
  const brought = open.length === 0 ? NOTHING : await bring(deps, remote, open);
  const tooLarge = { ...brought.tooLarge, commits: new Set([...known, ...brought.tooLarge.commits]) };
  return Promise.all(requests.map(request => outcomeOf(deps, request, { ...brought, tooLarge })));
}

async function unserved(
  deps: FetchDeps,
  wants: readonly Want[],
  tooLarge: ReadonlySet<ObjectId>,
): Promise<Want[]> {
  const missing = new Set(await deps.reader.missing(wants.flatMap(want => want.commit ?? [])));
  return wants.filter(({ commit }) => commit === undefined || (missing.has(commit) && !tooLarge.has(commit)));
}

async function unservedByMirror(
  deps: FetchDeps,
  { mirror }: Remote,
  wants: Want[],
  tooLarge: ReadonlySet<ObjectId>,
): Promise<Want[]> {
  if (mirror === undefined) return wants;
  await fetchFromMirror(
    deps,
    mirror,
    wants.flatMap(({ commit }) => commit ?? []),
  );
  return unserved(deps, wants, tooLarge);
}

const NOTHING: Brought = { failure: undefined, tooLarge: { commits: new Set(), refs: new Map() } };

async function outcomeOf(
  deps: FetchDeps,
  request: FetchRequest,
  { failure, tooLarge }: Brought,
): Promise<FetchOutcome> {
  const commits = await Promise.all(
    request.wants.map(want => deps.reader.resolve(want.commit ?? tipRef(want.ref))),
  );
  const lost: TooLargeRef[] = [];
  let needsRemote = false;
  for (const [index, { ref, commit }] of request.wants.entries()) {
    if (commit !== undefined && commits[index] !== undefined) continue;
    const culprit = commit === undefined ? tooLarge.refs.get(ref) : commit;
    if (culprit !== undefined && tooLarge.commits.has(culprit)) lost.push({ ref, commit: culprit });
    else needsRemote = true;
  }
  if (failure !== undefined && needsRemote) return failure;
  const [first, ...others] = lost;
  return first === undefined
    ? { kind: 'fetched', commits }
    : tooLargeFailure([first, ...others], deps.git.memoryBytes);
}

async function bring(deps: FetchDeps, remote: Remote, wants: readonly Want[]): Promise<Brought> {
  const refused = refusedUrl(remote, deps.git.protocols);
  if (refused !== undefined) return { ...NOTHING, failure: refused };
  if (wants.some(({ ref, commit }) => commit === undefined && deps.tooLarge.isLedToBy(ref)))
    return bringApart(deps, remote, wants);
  if ((await fetchFromDisk(deps, remote, wants)) === 'brought') return NOTHING;
  const overWire = await fetchOverWire(deps, remote, wants);
  if (overWire === 'brought') return NOTHING;
  const existing = overWire === 'not-served' ? await bringRefs(deps, remote, wants) : overWire;
  const failure = existing ?? (await bringCommits(deps, remote, wants));
  return failure?.reason === 'too-large'
    ? bringApart(deps, remote, await unserved(deps, wants, NOTHING.tooLarge.commits))
    : { ...NOTHING, failure };
}

async function bringRefs(
  deps: FetchDeps,
  remote: Remote,
  wants: readonly Want[],
): Promise<RemoteFailure | undefined> {
  const refs = [...new Set(wants.map(({ ref }) => ref))];
  const asTheyAre = new Set(wants.flatMap(({ ref, commit }) => (commit === undefined ? [ref] : [])));
  const allAsTheyAre = asTheyAre.size === refs.length;
  if ([...asTheyAre].some(deps.absent.has) || (allAsTheyAre && (await isOnThisDisk(remote, refs))))
    return fetchListed(deps, remote, refs, asTheyAre);
  return fetchExisting(deps, remote, refs);
}

/** A listing costs next to nothing there, and mostly shows that nothing has changed. */
async function isOnThisDisk(remote: Remote, refs: readonly RefName[]): Promise<boolean> {
  return (await readLocalRefs(remote, refs)) !== undefined;
}

/** Fetches commits by id that their refs did not lead to, as far as the remote gives them. */
async function bringCommits(
  deps: FetchDeps,
  remote: Remote,
  wants: readonly Want[],
): Promise<RemoteFailure | undefined> {
  const missing = await deps.reader.missing(wants.flatMap(want => want.commit ?? []));
  if (missing.length === 0) return undefined;
  const together = await fetchRefs(deps, remote, missing.map(refspec));
  if (together?.nature !== 'gone-ref' || missing.length === 1) return unlessMissing(together);
  for (const commit of missing) {
    const alone = unlessMissing(await fetchRefs(deps, remote, [refspec(commit)]));
    if (alone !== undefined) return alone;
  }
  return undefined;
}

/** A commit that the remote no longer has is an answer, not a failure. */
function unlessMissing(failure: RemoteFailure | undefined): RemoteFailure | undefined {
  return failure?.nature === 'gone-ref' ? undefined : failure;
}

/**
 * Brings commits and branches from a host behind HTTP with one request for each, side by side (`wire/`), where a `git fetch` takes
 * three in a row. What came is handed to git as a bundle, which checks it as if it had fetched it:
 *
 *     where is main?          ─┐
 *     objects of 1a2b…        ─┴─ bundle → git fetch       no process where the commits are here, and main is where it was
 *
 * Only for mirrors that know the branches: what they hold need not be sent. Where anything is not as expected, nothing has been
 * changed, and the caller lets git ask.
 */
import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ObjectId } from '../objects/object-id.ts';
import type { RefName } from '../objects/ref-name.ts';
import type { Remote } from '../process/remote.ts';
import type { RemoteFailure } from '../process/remote-failure.ts';
import { bundledRef, bundleOf } from '../wire/bundle.ts';
import { type FetchDeps, fetchRefs, moveTips, tipRef, type Want } from './run-fetch.ts';

/** Of one fetch. More are fetched by git. */
const MOST_WANTS = 50;

/** What is asked for, and what the mirror knows of it. */
interface WireFetch {
  /** Not in the mirror, by our ref for each. */
  readonly commits: ReadonlyMap<string, ObjectId>;
  /** Branches wanted as they are now, and where they were; undefined: the remote did not have it. */
  readonly held: ReadonlyMap<RefName, ObjectId | undefined>;
  /** Not empty where commits are asked for. */
  readonly haves: readonly ObjectId[];
}

/**
 * @param wants those with a commit are not in the mirror.
 * @returns `brought`: all of it is here, and our refs are where the remote's are. `not-served`: to be fetched by git. A failure:
 *   commits are too large.
 */
export async function fetchOverWire(
  deps: FetchDeps,
  remote: Remote,
  wants: readonly Want[],
): Promise<'brought' | 'not-served' | RemoteFailure> {
  const plan = deps.host.canAsk(remote) ? await planned(deps, wants) : undefined;
  if (plan === undefined) return 'not-served';
  deps.onListing();
  const [tips, came] = await Promise.all([
    deps.host.refs(remote, [...plan.held.keys()]),
    bundled(deps, remote, plan, plan.commits),
  ]);
  // A branch that is gone takes our copy with it: git's way does that.
  if (tips === undefined || [...plan.held].some(([ref, was]) => was !== undefined && !tips.has(ref)))
    return 'not-served';
  const moved = new Map([...tips].filter(([ref, tip]) => plan.held.get(ref) !== tip));
  const outcome = came === 'nothing' ? 'brought' : await taken(deps, plan.commits, came);
  return outcome === 'brought' ? followBranches(deps, remote, plan, moved) : outcome;
}

/** Undefined: not for this way. */
async function planned(deps: FetchDeps, wants: readonly Want[]): Promise<WireFetch | undefined> {
  const refs = [...new Set(wants.flatMap(({ ref, commit }) => (commit === undefined ? [ref] : [])))];
  if (wants.length > MOST_WANTS || !refs.every(ref => ref.startsWith('refs/heads/'))) return undefined;
  const tips = await Promise.all(refs.map(ref => deps.reader.resolve(tipRef(ref))));
  const held = new Map(refs.map((ref, at) => [ref, tips[at]]));
  const isNew = refs.some(ref => held.get(ref) === undefined && !deps.absent.has(ref));
  const haves = [...new Set(tips.flatMap(tip => tip ?? []))];
  const commits = placesOf(wants, held);
  return isNew || refs.length === 0 || (commits.size > 0 && haves.length === 0)
    ? undefined
    : { commits, held, haves };
}

/** Our ref for each commit: that of its ref, unless the ref leads elsewhere for another want. */
function placesOf(
  wants: readonly Want[],
  taken: ReadonlyMap<RefName, unknown>,
): ReadonlyMap<string, ObjectId> {
  const places = new Map<string, ObjectId>();
  for (const { ref, commit } of wants) {
    if (commit === undefined) continue;
    const held = places.get(tipRef(ref));
    const isFree = !taken.has(ref) && (held === undefined || held === commit);
    places.set(tipRef(isFree ? ref : commit), commit);
  }
  return places;
}

/** Moves our copies of branches to where the remote has them. */
async function followBranches(
  deps: FetchDeps,
  remote: Remote,
  plan: WireFetch,
  moved: ReadonlyMap<RefName, ObjectId>,
): Promise<'brought' | 'not-served' | RemoteFailure> {
  const lacking = new Set(await deps.reader.missing([...new Set(moved.values())]));
  const commits = new Map(
    [...moved].flatMap(([ref, tip]) => (lacking.has(tip) ? [[tipRef(ref), tip] as const] : [])),
  );
  const came = await bundled(deps, remote, plan, commits);
  const outcome = came === 'nothing' ? 'brought' : await taken(deps, commits, came);
  if (outcome !== 'brought') return outcome;
  // What has landed from here is in the mirror already.
  await moveTips(deps, new Map([...moved].filter(([, tip]) => !lacking.has(tip))));
  for (const ref of moved.keys()) deps.absent.delete(ref);
  return 'brought';
}

/** @param commits by our refs for them. */
async function bundled(
  { host }: FetchDeps,
  remote: Remote,
  { haves }: WireFetch,
  commits: ReadonlyMap<string, ObjectId>,
): Promise<Buffer | 'nothing' | 'not-served'> {
  const wanted = [...new Set(commits.values())];
  if (wanted.length === 0) return 'nothing';
  const pack = await host.pack(remote, wanted, haves);
  return pack === undefined ? 'not-served' : bundleOf(pack, wanted, haves);
}

/** Lets git take a bundle in. */
async function taken(
  deps: FetchDeps,
  commits: ReadonlyMap<string, ObjectId>,
  bundle: Buffer | 'not-served',
): Promise<'brought' | 'not-served' | RemoteFailure> {
  if (bundle === 'not-served') return bundle;
  // A name under which git itself keeps what it has not finished, and clears it away.
  const file = join(deps.gitDir, 'objects/pack', `tmp_bundle_${randomBytes(8).toString('hex')}`);
  const remote = { url: file, environment: { GIT_ALLOW_PROTOCOL: 'file' } };
  try {
    await writeFile(file, bundle, { mode: 0o600, flag: 'wx' });
    const failure = await fetchRefs(
      deps,
      remote,
      [...commits].map(([place, commit]) => `+${bundledRef(commit)}:${place}`),
    );
    if (failure === undefined) return 'brought';
    return failure.reason === 'too-large' ? failure : 'not-served';
  } finally {
    await rm(file, { force: true });
  }
}

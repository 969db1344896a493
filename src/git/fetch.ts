/**
 * Bringing commits into a mirror: as few conversations with the remote as possible.
 *
 * A remote ref is kept under a flat name of our own (`refs/tips/refs%2Fheads%2Fmain`), never its own: at the remote `a` may
 * become `a/b` from one day to the next, which no ref store survives, and a hostile name cannot collide with ours. These
 * refs keep the objects alive and tell the remote what we have.
 *
 * One batch is one `git fetch`, as long as what is asked for exists. When a ref does not, git fetches nothing: then the remote is
 * asked for its refs, and the rest is fetched. A commit that its ref does not lead to any more (somebody pushed
 * again) is asked for by id.
 */
import type { Git, GitResult } from './git.ts';
import type { ObjectId } from './object-id.ts';
import type { ObjectReader } from './object-reader.ts';
import { pastLocks } from './past-locks.ts';
import { pathName } from './path-name.ts';
import type { RefName } from './ref-name.ts';
import type { Remote } from './remote.ts';
import { type RemoteFailure, refusedUrl, remoteFailure } from './remote-failure.ts';
import { lsRemote } from './remote-refs.ts';

/** A ref to bring up to date, or, with `commit`, a commit to have: if it is here the remote is not asked. */
export interface Want {
  readonly ref: RefName;
  readonly commit?: ObjectId;
}

export type FetchOutcome =
  | {
      readonly kind: 'fetched';
      /** One per want: its `commit`, or where its ref points now (behind an annotated tag); undefined: the remote does not have it. */
      readonly commits: readonly (ObjectId | undefined)[];
    }
  | RemoteFailure;

export interface FetchRequest {
  readonly remote: Remote;
  readonly wants: readonly Want[];
}

export interface FetchDeps {
  readonly git: Git;
  readonly gitDir: string;
  readonly reader: ObjectReader;
  /** Called once per `git fetch`. */
  readonly onFetch: () => void;
  /** Called once per `git ls-remote`. */
  readonly onListing: () => void;
}

/** Our name for what a remote ref pointed at when last fetched. */
export function tipRef(ref: string): string {
  return `refs/tips/${pathName(ref)}`;
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
  const open = await unserved(deps, wants);
  const failure = open.length === 0 ? undefined : await bring(deps, remote, open);
  return Promise.all(requests.map(request => outcomeOf(deps, request, failure)));
}

async function unserved(deps: FetchDeps, wants: readonly Want[]): Promise<Want[]> {
  const missing = new Set(await deps.reader.missing(wants.flatMap(want => want.commit ?? [])));
  return wants.filter(want => want.commit === undefined || missing.has(want.commit));
}

async function outcomeOf(
  deps: FetchDeps,
  request: FetchRequest,
  failure: RemoteFailure | undefined,
): Promise<FetchOutcome> {
  const commits = await Promise.all(
    request.wants.map(want => deps.reader.resolve(want.commit ?? tipRef(want.ref))),
  );
  const needsRemote = request.wants.some(
    (want, index) => want.commit === undefined || commits[index] === undefined,
  );
  return failure !== undefined && needsRemote ? failure : { kind: 'fetched', commits };
}

async function bring(
  deps: FetchDeps,
  remote: Remote,
  wants: readonly Want[],
): Promise<RemoteFailure | undefined> {
  const refused = refusedUrl(remote, deps.git.protocols);
  if (refused !== undefined) return refused;
  const refs = [...new Set(wants.map(want => want.ref))];
  const first = await fetchRefs(deps, remote, refs.map(refspec));
  const failure = first?.nature === 'gone-ref' ? await fetchExisting(deps, remote, refs) : first;
  return failure ?? bringCommits(deps, remote, wants);
}

/** Refs that go while they are fetched: each round loses at least one, but a host's replicas may disagree for ever. */
const MOST_LISTINGS = 5;

/**
 * Fetches those of `refs` that exist at the remote and drops our memory of the others. A ref may go between the listing and the
 * fetch (we ourselves delete proposals when they land): then the remote is listed again.
 */
async function fetchExisting(
  deps: FetchDeps,
  remote: Remote,
  refs: readonly RefName[],
): Promise<RemoteFailure | undefined> {
  let failure: RemoteFailure | undefined;
  for (let listings = 0; listings < MOST_LISTINGS; listings += 1) {
    deps.onListing();
    const listing = await lsRemote(deps.git, remote, refs);
    if (listing.kind !== 'refs') return listing;
    await forgetTips(
      deps,
      refs.filter(ref => !listing.refs.has(ref)),
    );
    const rest = refs.filter(ref => listing.refs.has(ref));
    failure = rest.length === 0 ? undefined : await fetchRefs(deps, remote, rest.map(refspec));
    if (failure?.nature !== 'gone-ref') return failure;
  }
  return failure;
}

async function forgetTips(deps: FetchDeps, refs: readonly RefName[]): Promise<void> {
  const result = await pastLocks(deps.gitDir, () =>
    deps.git.run(['update-ref', '--no-deref', '--stdin'], {
      gitDir: deps.gitDir,
      input: refs.map(ref => `delete ${tipRef(ref)}\n`).join(''),
    }),
  );
  if (result.kind !== 'ok')
    throw new Error(`cannot delete refs in ${deps.gitDir}: ${remoteFailure(result).message}`);
}

/** Commits their refs did not lead to, by id, as far as the remote gives them. */
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

/** A commit nobody has any more is an answer, not a failure. */
function unlessMissing(failure: RemoteFailure | undefined): RemoteFailure | undefined {
  return failure?.nature === 'gone-ref' ? undefined : failure;
}

function refspec(source: RefName | ObjectId): string {
  return `+${source}:${tipRef(source)}`;
}

async function fetchRefs(
  deps: FetchDeps,
  remote: Remote,
  refspecs: readonly string[],
): Promise<RemoteFailure | undefined> {
  const result = await pastLocks(deps.gitDir, () => runFetch(deps, remote, refspecs));
  return result.kind === 'ok' ? undefined : remoteFailure(result);
}

function runFetch(deps: FetchDeps, remote: Remote, refspecs: readonly string[]): Promise<GitResult> {
  deps.onFetch();
  return deps.git.run([...FETCH, '--stdin', '--end-of-options', remote.url], {
    gitDir: deps.gitDir,
    remote,
    input: `${refspecs.join('\n')}\n`,
  });
}

const FETCH = [
  'fetch',
  '--quiet',
  '--no-tags',
  '--no-write-fetch-head',
  '--no-auto-maintenance',
  '--no-recurse-submodules',
  '--force',
];

/** One `git fetch` into a mirror, and our refs for what it brings. */

import { pastLocks } from '../disk/past-locks.ts';
import { pathName } from '../disk/path-name.ts';
import type { ObjectId } from '../objects/object-id.ts';
import type { ObjectReader } from '../objects/object-reader.ts';
import type { ObjectWriter } from '../objects/object-writer.ts';
import type { RefName } from '../objects/ref-name.ts';
import type { Git, GitResult } from '../process/git.ts';
import type { Remote } from '../process/remote.ts';
import { type RemoteFailure, remoteFailure } from '../process/remote-failure.ts';
import type { UploadPackHost } from '../wire/upload-pack-host.ts';
import type { AbsentRefs } from './absent-refs.ts';
import type { MirrorRest } from './mirror-rest.ts';
import type { TooLargeCommits } from './too-large.ts';

/** A ref to update, or, with `commit`, a commit to have: if the mirror has it, the remote is not asked. */
export interface Want {
  readonly ref: RefName;
  readonly commit?: ObjectId;
}

/** One mirror, and counters of its requests. */
export interface FetchDeps {
  readonly git: Git;
  readonly gitDir: string;
  readonly reader: ObjectReader;
  readonly writer: ObjectWriter;
  readonly tooLarge: TooLargeCommits;
  readonly absent: AbsentRefs;
  readonly host: UploadPackHost;
  readonly mirrorRest: MirrorRest;
  /** The mirror did not serve: it is not asked for a while. */
  readonly onMirrorFailure: (failure: RemoteFailure) => void;
  /** Called once per `git fetch`, also from a bundle, and each time that objects are copied without git. */
  readonly onFetch: () => void;
  /** Called once for each time a remote is asked where its refs are, and for nothing else. */
  readonly onListing: () => void;
}

/** Our name for what a remote ref pointed at when last fetched. */
export function tipRef(ref: string): string {
  return `refs/tips/${pathName(ref)}`;
}

/** Deletes our copies of refs that the remote no longer has. @throws Error when git cannot. */
export async function forgetTips(deps: FetchDeps, refs: readonly RefName[]): Promise<void> {
  await updateRefs(
    deps,
    refs.map(ref => `delete ${tipRef(ref)}`),
  );
}

/** Makes our copies of refs point at commits that are in the mirror. @throws Error when git cannot. */
export async function moveTips(deps: FetchDeps, tips: ReadonlyMap<RefName, ObjectId>): Promise<void> {
  if (tips.size > 0)
    await updateRefs(
      deps,
      [...tips].map(([ref, tip]) => `update ${tipRef(ref)} ${tip}`),
    );
}

async function updateRefs({ git, gitDir }: FetchDeps, commands: readonly string[]): Promise<void> {
  const input = commands.map(command => `${command}\n`).join('');
  const result = await pastLocks(gitDir, () =>
    git.run(['update-ref', '--no-deref', '--stdin'], { gitDir, input }),
  );
  if (result.kind !== 'ok')
    throw new Error(`cannot update refs in ${gitDir}: ${remoteFailure(result).message}`);
}

/** Brings a ref, or a commit by its id, to our name for it, wherever that pointed before. */
export function refspec(source: RefName | ObjectId): string {
  return `+${source}:${tipRef(source)}`;
}

/**
 * One `git fetch`: where the remote lacks one of the sources, none is fetched.
 *
 * @param timeoutMs default: as for any call of git. @returns undefined: all are here.
 */
export async function fetchRefs(
  deps: FetchDeps,
  remote: Remote,
  refspecs: readonly string[],
  timeoutMs?: number,
): Promise<RemoteFailure | undefined> {
  const result = await pastLocks(deps.gitDir, () => runFetch(deps, remote, refspecs, timeoutMs));
  return result.kind === 'ok' ? undefined : fetchFailure(remote, result);
}

/**
 * A resource that a remote host lacks says nothing about the commits. A repository of this machine is read by a git that runs
 * under our limit.
 */
function fetchFailure(remote: Remote, result: Exclude<GitResult, { kind: 'ok' }>): RemoteFailure {
  const failure = remoteFailure(result);
  if (failure.reason !== 'too-large' || result.kind !== 'failed' || /^(\/|file:)/.test(remote.url))
    return failure;
  const stderr = result.stderr.replaceAll(/^remote: .*/gm, '');
  return remoteFailure({ ...result, stderr }).reason === 'too-large'
    ? failure
    : { ...failure, reason: 'unreachable', nature: 'host' };
}

function runFetch(
  deps: FetchDeps,
  remote: Remote,
  refspecs: readonly string[],
  timeoutMs: number | undefined,
): Promise<GitResult> {
  deps.onFetch();
  return deps.git.run([...FETCH, '--stdin', '--end-of-options', remote.url], {
    gitDir: deps.gitDir,
    remote,
    input: `${refspecs.join('\n')}\n`,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
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

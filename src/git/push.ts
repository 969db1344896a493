/**
 * Changing refs of a remote: all or nothing, and only from where we think they are.
 *
 *     await push(git, gitDir, remote, [
 *       { ref: main, from: base, to: tested },      // land what was tested
 *       { ref: proposal, from: head, to: null },    // and remove the proposal in the same breath
 *     ])
 *
 * `--atomic` makes it one transaction at the remote, `--force-with-lease=<ref>:<from>` a compare-and-set. A lease also
 * permits rewinding, so unless `force` is set an update of an existing ref must be a descendant of `from`.
 *
 * After a `remote-failed` the outcome is open: the push may have arrived and only its answer been lost. Ask with `lsRemote`.
 */
import { isAncestor } from './ancestry.ts';
import type { Git } from './git.ts';
import type { ObjectId } from './object-id.ts';
import type { RefName } from './ref-name.ts';
import type { Remote } from './remote.ts';
import { oneLine, type RemoteFailure, refusedUrl, remoteFailure } from './remote-failure.ts';

export interface RefChange {
  readonly ref: RefName;
  /** Where the ref must be now; null: it must not exist. */
  readonly from: ObjectId | null;
  /** Where it goes; null: it is deleted. */
  readonly to: ObjectId | null;
  /** Allow `to` not to descend from `from`; default no. */
  readonly force?: boolean;
}

export interface RefRejection {
  readonly ref: RefName;
  readonly reason: /** The ref is not where `from` says: somebody was faster. */
    | 'stale'
    /** `to` does not descend from `from`; found here, the remote was not asked. */
    | 'not-fast-forward'
    /** A hook or a rule of the remote said no. */
    | 'refused';
  readonly message: string;
}

export type PushOutcome =
  | { readonly kind: 'pushed' }
  /** Nothing changed at the remote. */
  | { readonly kind: 'rejected'; readonly rejections: readonly [RefRejection, ...RefRejection[]] }
  | RemoteFailure;

export async function push(
  git: Git,
  gitDir: string,
  remote: Remote,
  changes: readonly RefChange[],
): Promise<PushOutcome> {
  const refused = refusedUrl(remote, git.protocols);
  if (refused !== undefined) return refused;
  const [rewind, ...rewinds] = await findRewinds(git, gitDir, changes);
  if (rewind !== undefined) return { kind: 'rejected', rejections: [rewind, ...rewinds] };
  const result = await git.run(
    [
      ...['push', '--porcelain', '--atomic', '--no-verify', '--no-follow-tags', '--no-recurse-submodules'],
      ...changes.map(({ ref, from }) => `--force-with-lease=${ref}:${from ?? ''}`),
      '--end-of-options',
      remote.url,
      ...changes.map(({ ref, to }) => `${to ?? ''}:${ref}`),
    ],
    { gitDir, remote },
  );
  if (result.kind === 'ok') return { kind: 'pushed' };
  if (result.kind !== 'failed') return remoteFailure(result);
  const [first, ...rest] = rejectionsIn(result.stdout.toString('utf8'), changes, result.stderr);
  return first === undefined ? remoteFailure(result) : { kind: 'rejected', rejections: [first, ...rest] };
}

async function findRewinds(git: Git, gitDir: string, changes: readonly RefChange[]): Promise<RefRejection[]> {
  const found: RefRejection[] = [];
  for (const { ref, from, to, force } of changes) {
    if (from === null || to === null || force === true || (await isAncestor(git, gitDir, from, to))) continue;
    found.push({ ref, reason: 'not-fast-forward', message: `${to} does not descend from ${from}` });
  }
  return found;
}

/** Lines of `--porcelain` for refused refs: `! TAB <from>:<to> TAB [rejected] (stale info)`. */
function rejectionsIn(output: string, changes: readonly RefChange[], stderr: string): RefRejection[] {
  const refused = output.split('\n').flatMap(line => {
    const [flag, names = '', summary = ''] = line.split('\t');
    const change = changes.find(({ ref }) => names.endsWith(`:${ref}`));
    return flag === '!' && change !== undefined ? [rejection(change.ref, summary, stderr)] : [];
  });
  // The others of an atomic push fell with the culprit; they are named only when nobody knows a culprit.
  const culprits = refused.filter(({ fellWithOthers }) => !fellWithOthers);
  return (culprits.length > 0 ? culprits : refused).map(({ ref, reason, message }) => ({
    ref,
    reason,
    message,
  }));
}

/** What git says when another push won between our look and our write, besides the lease's `stale info`. */
const LOST_RACE =
  /stale info|fetch first|non-fast-forward|failed to (update|lock) ref|incorrect old value|already exists/;

function rejection(
  ref: RefName,
  summary: string,
  stderr: string,
): RefRejection & { readonly fellWithOthers: boolean } {
  const remoteSaid = stderr.split('\n').filter(line => line.startsWith('remote: '));
  const lock = remoteSaid.find(line => line.includes(`cannot lock ref '${ref}'`));
  if (LOST_RACE.test(summary) || lock !== undefined) {
    return { ref, reason: 'stale', message: oneLine(lock ?? summary), fellWithOthers: false };
  }
  const said = remoteSaid.join(' ').replaceAll('remote: ', '').trim();
  const fellWithOthers = /atomic (push|transaction) failed/.test(summary);
  return { ref, reason: 'refused', message: oneLine(`${said} ${summary}`), fellWithOthers };
}

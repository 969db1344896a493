/**
 * Changes refs of a remote, all or none, and only if each is where the caller expects it.
 *
 *     await push({ git, gitDir, isAncestor }, remote, [
 *       { ref: main, from: base, to: tested },      // land what was tested
 *       { ref: proposal, from: head, to: null },    // and remove the proposal in the same push
 *     ])
 *
 * `--atomic` makes it one transaction at the remote, `--force-with-lease=<ref>:<from>` a compare-and-set. A lease also
 * permits rewinding, so unless `force` is set an update of an existing ref must be a descendant of `from`.
 *
 * After a `remote-failed` the outcome is unknown: the push may have arrived and its answer been lost. Check with `lsRemote`.
 */
import type { IsAncestor } from '../objects/ancestry.ts';
import type { ObjectId } from '../objects/object-id.ts';
import type { RefName } from '../objects/ref-name.ts';
import { type FailureNature, meaningOfRefusal } from '../process/failure-table.ts';
import type { Git } from '../process/git.ts';
import type { Remote } from '../process/remote.ts';
import { oneLine, type RemoteFailure, refusedUrl, remoteFailure } from '../process/remote-failure.ts';

/** A compare-and-set of one ref of the remote. */
export interface RefChange {
  readonly ref: RefName;
  /** Where the ref must be now; null: it must not exist. */
  readonly from: ObjectId | null;
  /** Where it goes; null: it is deleted. */
  readonly to: ObjectId | null;
  /** Allow `to` not to descend from `from`; default no. */
  readonly force?: boolean;
}

interface RefRejection {
  readonly ref: RefName;
  readonly reason:
    | /** The ref is not where `from` says: another push was faster. */ 'stale'
    /** `to` does not descend from `from`; found here, without asking the remote. */
    | 'not-fast-forward'
    /** The remote refused; `nature` says whether because of the pushed content. */
    | 'refused';
  readonly nature: FailureNature;
  /** One line of the remote's message, without paths of its disk. */
  readonly message: string;
}

/** `remote-failed`: whether the push arrived is not known. */
export type PushOutcome =
  | { readonly kind: 'pushed' }
  /** Nothing changed at the remote. */
  | { readonly kind: 'rejected'; readonly rejections: readonly [RefRejection, ...RefRejection[]] }
  | RemoteFailure;

/** The mirror that the commits are in. */
export interface PushDeps {
  readonly git: Git;
  readonly gitDir: string;
  readonly isAncestor: IsAncestor;
}

/** The objects of all `to` must be in `gitDir`. @throws Error when git cannot determine ancestry. */
export async function push(
  { git, gitDir, isAncestor }: PushDeps,
  remote: Remote,
  changes: readonly RefChange[],
): Promise<PushOutcome> {
  const refused = refusedUrl(remote, git.protocols);
  if (refused !== undefined) return refused;
  const [rewind, ...rewinds] = await findRewinds(isAncestor, changes);
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

async function findRewinds(isAncestor: IsAncestor, changes: readonly RefChange[]): Promise<RefRejection[]> {
  const found: RefRejection[] = [];
  for (const { ref, from, to, force } of changes) {
    if (from === null || to === null || force === true || (await isAncestor(from, to))) continue;
    const message = `${to} does not descend from ${from}`;
    found.push({ ref, reason: 'not-fast-forward', nature: 'content', message });
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
  // The other refs of an atomic push failed with the culprit; they are named only when there is no culprit.
  const culprits = refused.filter(({ fellWithOthers }) => !fellWithOthers);
  return (culprits.length > 0 ? culprits : refused).map(({ fellWithOthers: _, ...rejected }) => rejected);
}

/** Git's message when another push came between our listing and our push, besides the lease's `stale info`. */
const LOST_RACE =
  /stale info|fetch first|non-fast-forward|incorrect old value|already exists|is at [0-9a-f]{40,} but expected|unable to resolve reference/;
/** An atomic push that failed as a whole: the summary of a ref names no cause of its own. */
const FELL_WITH_OTHERS = /atomic (push|transaction) fail/;

function rejection(
  ref: RefName,
  summary: string,
  stderr: string,
): RefRejection & { readonly fellWithOthers: boolean } {
  const words = /\((.*)\)\s*$/.exec(summary)?.[1] ?? summary.replace(/^\[(remote )?rejected\]\s*/, '');
  const said = remoteWords(stderr);
  const race = said.find(line => line.includes(`'${ref}'`) && LOST_RACE.test(line));
  if (LOST_RACE.test(summary) || race !== undefined) {
    const message = oneLine(race ?? words);
    return { ref, reason: 'stale', nature: 'gone-ref', message, fellWithOthers: false };
  }
  const fellWithOthers = FELL_WITH_OTHERS.test(summary);
  const { nature } = meaningOfRefusal([...said, words].join('\n'));
  const message = oneLine(
    shortly([...said, ...(fellWithOthers && said.length > 0 ? [] : [words])]).join('; '),
  );
  return { ref, reason: 'refused', nature, message, fellWithOthers };
}

/** The remote's output, without the hints that git adds for people. */
function remoteWords(stderr: string): string[] {
  const lines = stderr
    .split('\n')
    .filter(line => line.startsWith('remote: ') || line.startsWith('error: remote unpack failed'))
    .map(line =>
      line
        .replace(/^(remote|error): /, '')
        .replace(/^(fatal|error): /, '')
        .trim(),
    );
  const advice = lines.findIndex(line => line.startsWith('Another git process seems to be running'));
  return [...new Set((advice < 0 ? lines : lines.slice(0, advice)).filter(Boolean))];
}

const MOST_LINES = 3;

function shortly(lines: readonly string[]): readonly string[] {
  return [...new Set(lines)].slice(0, MOST_LINES);
}

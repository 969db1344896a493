/**
 * The requests to one project's repository, in the driver's terms. With `mirror-reads.ts` the only file of the driver that calls
 * `src/git`: a failure returned there is thrown here, because every caller can only try again later.
 */
import type { GitRemote, RemoteUse } from '../../src/driver/remote.ts';
import type { ObjectId } from '../../src/git/objects/object-id.ts';
import type { RefName } from '../../src/git/objects/ref-name.ts';
import {
  type FailureNature,
  type FailureReason,
  isWorthAnotherTry,
} from '../../src/git/process/failure-table.ts';
import type { RemoteFailure } from '../../src/git/process/remote-failure.ts';
import type { FetchOutcome } from '../../src/git/remote/fetch.ts';
import type { RefChange } from '../../src/git/remote/push.ts';
import type { RepositoryCache } from '../../src/git/repository-cache.ts';
import { assertNever } from '../../src/lib/assert-never.ts';
import { type ProjectKey, projectIdOf } from '../../src/model/project.ts';
import { createMirrorReads, type MirrorReadDeps, type MirrorReads } from './mirror-reads.ts';
import type { Refs } from './ref-view.ts';

/**
 * The remote failed to serve a request; nothing is known to have changed there. `unsettled`: a push was sent and may have
 * arrived.
 */
export class HostFailed extends Error {
  override readonly name = 'HostFailed';
  readonly fault = 'remote';
  readonly project: ProjectKey;
  readonly reason: FailureReason;
  readonly retryable: boolean;
  readonly unsettled: boolean;
  constructor(
    project: ProjectKey,
    failure: Pick<RemoteFailure, 'message'> & {
      readonly reason?: FailureReason;
      readonly retryable?: boolean;
    },
    { unsettled = false } = {},
  ) {
    super(`${project}: ${failure.message}${adviceFor(failure.message)}`);
    this.project = project;
    this.reason = failure.reason ?? 'other';
    this.retryable = failure.retryable ?? true;
    this.unsettled = unsettled;
  }
}

/** False: the host refused before it took the push. */
function mayHaveArrived({ reason }: RemoteFailure): boolean {
  switch (reason) {
    case 'limited':
    case 'denied':
    case 'locked':
    case 'bad-url':
    case 'missing-ref':
    case 'too-large':
      return false;
    case 'unreachable':
    case 'timeout':
    case 'aborted':
    case 'other':
      return true;
    default:
      return assertNever(reason, 'failure reason');
  }
}

function adviceFor(message: string): string {
  if (!message.includes('dubious ownership')) return '';
  return '; git serves a directory to its owner only: run Gatehouse as that user, or reach the directory over ssh or http';
}

type LandOutcome =
  | { readonly kind: 'pushed' }
  /** Nothing changed at the remote; `text` is one line, the remote's message if it gave one. */
  | { readonly kind: 'rejected'; readonly nature: FailureNature; readonly text: string };

/** `rejected`: a rule of the host, or the commit cannot be had; trying again does not help. */
export type NoteResult = { readonly kind: 'noted' } | { readonly kind: 'rejected'; readonly text: string };

/** A commit that could not be fetched. */
export interface Absent {
  readonly commit: ObjectId;
  /** Too large to read, or its ref has moved on. */
  readonly reason: 'too-large' | 'moved';
  /** Completes the sentence "the commit is …". */
  readonly text: string;
}

/** One project: its remote, and its mirror, from which commits are read. */
export interface ProjectGit extends MirrorReads {
  /** Branches and tags as they are now. @throws HostFailed */
  refs(): Promise<Refs>;
  /** Fetches commits. @returns those that could not be fetched. @throws HostFailed */
  bring(wants: readonly { readonly ref: RefName; readonly commit: ObjectId }[]): Promise<readonly Absent[]>;
  /** Fetches refs and what they point at, unless that is too large. @throws HostFailed */
  bringRefs(refs: readonly RefName[]): Promise<void>;
  /** Moves all refs or none. @throws HostFailed when the outcome is unknown. */
  push(changes: readonly RefChange[]): Promise<LandOutcome>;
  /** Adds a paragraph to the commit's note. @throws HostFailed */
  note(ref: RefName, commit: ObjectId, text: string): Promise<NoteResult>;
}

/** `remoteOf` is called for each request: credentials may be renewed. */
export interface ProjectGitDeps extends MirrorReadDeps {
  readonly repositories: RepositoryCache;
  readonly remoteOf: (project: ProjectKey, use: RemoteUse) => Promise<GitRemote>;
}

const LISTED = ['refs/heads/', 'refs/tags/'];

/** Makes an empty mirror when there is none; asks nothing of the remote yet. What it remembers is for all calls of its project. */
export async function openProjectGit(project: ProjectKey, deps: ProjectGitDeps): Promise<ProjectGit> {
  const { connection, name } = projectIdOf(project);
  const repository = await deps.repositories.repository(connection, name);
  const toRead = () => deps.remoteOf(project, 'read');
  const toWrite = () => deps.remoteOf(project, 'write');
  const failed = (failure: RemoteFailure) => new HostFailed(project, failure);
  return {
    async refs() {
      const listing = await repository.lsRemote(await toRead(), LISTED);
      if (listing.kind !== 'refs') throw failed(listing);
      return listing.refs;
    },
    async bring(wants) {
      const fetched = await repository.fetch(await toRead(), wants);
      if (fetched.kind !== 'fetched' && fetched.tooLarge === undefined) throw failed(fetched);
      const missing = await repository.reader.missing(wants.map(want => want.commit));
      return missing.map(commit => absent(commit, fetched));
    },
    async bringRefs(refs) {
      const fetched = await repository.fetch(
        await toRead(),
        refs.map(ref => ({ ref })),
      );
      if (fetched.kind !== 'fetched' && fetched.tooLarge === undefined) throw failed(fetched);
    },
    ...createMirrorReads(repository, deps),
    async push(changes) {
      const outcome = await repository.push(await toWrite(), changes);
      if (outcome.kind === 'remote-failed')
        throw new HostFailed(project, outcome, { unsettled: mayHaveArrived(outcome) });
      if (outcome.kind === 'pushed') return outcome;
      const { rejections } = outcome;
      const [culprit] = rejections.filter(({ nature }) => !isWorthAnotherTry(nature));
      return {
        kind: 'rejected',
        nature: (culprit ?? rejections[0]).nature,
        text: [...new Set(rejections.map(({ message }) => message))].join('; '),
      };
    },
    async note(ref, commit, text) {
      const outcome = await repository.appendNote(await toWrite(), { ref, commit, text });
      if (outcome.kind === 'remote-failed') throw failed(outcome);
      return outcome.kind === 'rejected' ? { kind: 'rejected', text: outcome.message } : { kind: 'noted' };
    },
  };
}

function absent(commit: ObjectId, outcome: FetchOutcome): Absent {
  const tooLarge = outcome.kind === 'fetched' ? undefined : outcome.tooLarge;
  return tooLarge?.refs.some(each => each.commit === commit)
    ? { commit, reason: 'too-large', text: tooLarge.text }
    : { commit, reason: 'moved', text: 'not at the remote any more' };
}

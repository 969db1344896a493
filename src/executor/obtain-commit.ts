/**
 * Provides the commits of builds, on any machine. A commit in the mirror is used as it is (a merger on this machine has put it there,
 * or an earlier build); any other is made here, from the code host alone:
 *
 *     already here                       → nothing to do, no request to the host
 *     tip of a branch, ref of a push     → fetched
 *     tested merge                       → its base and changes fetched, merged again (`src/git/remake-merge.ts`)
 *
 * Merges are reproducible, so the result has exactly the id the merger gave it, or is refused. No merger is asked: a build
 * never depends on another machine that may be gone.
 *
 * All work is recorded as steps of the build that does it: the check whether the commit is here (`BuildRepoCheck`), the wait for
 * other writers of the mirror (`BuildRepoUpdateLock`), the exchange with the code host (`BuildRepoUpdate`), the merges
 * (`BuildMergeChanges`). A build that finds another one obtaining the same commit waits for it, and records only its own check.
 */
import type { FindRemote } from '../driver/find-remote.ts';
import { messageOfCommit } from '../git/objects/commit.ts';
import type { ObjectId } from '../git/objects/object-id.ts';
import { parseObjectId } from '../git/objects/object-id.ts';
import type { Remote } from '../git/process/remote.ts';
import { remakeMerge } from '../git/remake-merge.ts';
import type { Repository } from '../git/repository.ts';
import type { RepositoryCache } from '../git/repository-cache.ts';
import { createLru } from '../git/support/lru.ts';
import { assertNever } from '../lib/assert-never.ts';
import type { HostTroubleReason } from '../model/host-trouble.ts';
import { type ProjectKey, projectIdOf } from '../model/project.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { StepNote } from '../tracing/step-recorder.ts';
import { type CommitOrigin, commitOrigin } from './commit-origin.ts';
import type { ProvidedRepository, Repositories, RepositoryRequest } from './deps.ts';
import type { TimeStep } from './time-step.ts';

/** The mirrors of this machine, and the two facts that are looked up anew for each missing commit. */
export interface ObtainDeps {
  readonly repositories: RepositoryCache;
  /** @throws StoreError when the session is over. @param build needs the project: an executor without credentials of its own gets access for this build. */
  readonly remote: (
    project: ProjectKey,
    build: RepositoryRequest['build'],
    time: TimeStep,
  ) => ReturnType<FindRemote>;
  /** The queue item a build is for, as stored now, with all that was merged for it; undefined when it has left its queue. */
  readonly readItem: (build: RepositoryRequest['build']) => Promise<QueueItem | undefined>;
}

/** Bytes of a commit whose message is passed to jobs. */
const LONGEST_COMMIT = 1024 * 1024;
/** Characters of messages that are kept: each build needs those of all changes ahead of it, which the build before it needed too. */
const KEPT_MESSAGES = 8 * 1024 * 1024;
/** Of one message besides its text. */
const ENTRY = 100;

/** Why a commit cannot be obtained. */
type Obstacle = Omit<Extract<ProvidedRepository, { kind: 'unavailable' }>, 'kind'>;

function blame(project: ProjectKey, reason: HostTroubleReason, text: string): Obstacle {
  return { reason: text, trouble: { project, reason, text } };
}

/** Bytes of a file whose lines are compared. */
const LONGEST_FILE = 256 * 1024;

/** Builds that want the same commit at the same time wait for one fetch. */
export function obtainedRepositories(deps: ObtainDeps): Repositories {
  const underway = new Map<string, Promise<Obstacle | undefined>>();
  const messages = createLru<string, string>(KEPT_MESSAGES, message => message.length + ENTRY);

  function obtainOnce(
    repository: Repository,
    request: RepositoryRequest,
    time: TimeStep,
  ): Promise<Obstacle | undefined> {
    const key = `${request.build.buildset} ${request.project} ${request.commit}`;
    const known = underway.get(key);
    if (known !== undefined) return time('BuildRepoUpdateLock', () => known);
    const begun = obtain(deps, timed(repository, time), request, time).finally(() => underway.delete(key));
    underway.set(key, begun);
    return begun;
  }

  return {
    async provide(request, time): Promise<ProvidedRepository> {
      const { connection, name } = projectIdOf(request.project);
      const id = parseObjectId(request.commit);
      const { repository, here } = await time(
        'BuildRepoCheck',
        async () => {
          const mirror = await deps.repositories.repository(connection, name);
          return { repository: mirror, here: await isHere(mirror, id) };
        },
        found => ({ facts: { cached: found.here } }),
      );
      if (here) return { kind: 'ready', gitDir: repository.path };
      const reason = await obtainOnce(repository, request, time);
      return reason === undefined
        ? { kind: 'ready', gitDir: repository.path }
        : { kind: 'unavailable', ...reason };
    },
    async checkoutSize(project, commit) {
      const { connection, name } = projectIdOf(project);
      return (await deps.repositories.repository(connection, name)).checkoutSize(parseObjectId(commit));
    },
    async fileLines(project, commit, path) {
      const { connection, name } = projectIdOf(project);
      const { reader } = await deps.repositories.repository(connection, name);
      const id = parseObjectId(commit);
      if ((await reader.header(id)) === undefined) return undefined;
      const found = await reader.readPath(id, path, LONGEST_FILE);
      return found.kind === 'file' ? found.data.toString('utf8').split('\n') : undefined;
    },
    async commitMessage(project, commit) {
      const key = `${project} ${commit}`;
      const known = messages.get(key);
      if (known !== undefined) return known;
      const { connection, name } = projectIdOf(project);
      const { reader } = await deps.repositories.repository(connection, name);
      const found = await reader.read(parseObjectId(commit), LONGEST_COMMIT);
      if (found.kind !== 'object') return undefined;
      const message = messageOfCommit(found.data);
      messages.set(key, message);
      return message;
    },
  };
}

/** The part of a mirror that is needed to bring a commit into it. */
type Workplace = Pick<Repository, 'fetch' | 'chain' | 'reader'>;

/** The mirror, with all work in it recorded as steps. */
function timed({ fetch, chain, reader }: Repository, time: TimeStep): Workplace {
  return {
    reader,
    async fetch(remote, wants) {
      const turn = Promise.withResolvers<void>();
      const outcome = fetch(remote, wants, turn.resolve);
      // A commit that is already here needs no lock.
      await time('BuildRepoUpdateLock', () => Promise.race([turn.promise, outcome]));
      return time(
        'BuildRepoUpdate',
        () => outcome,
        ({ kind }) => ({ facts: { refs: wants.length }, ...failedUnless(kind === 'fetched') }),
      );
    },
    chain: {
      ...chain,
      merge: (base, steps) =>
        time(
          'BuildMergeChanges',
          () => chain.merge(base, steps),
          ({ kind }) => ({ facts: { changes: steps.length }, ...failedUnless(kind === 'merged') }),
        ),
    },
  };
}

function failedUnless(good: boolean): StepNote {
  return good ? {} : { result: 'FAILURE' };
}

/** @returns why it cannot be obtained; undefined: it is here now. */
async function obtain(
  deps: ObtainDeps,
  repository: Workplace,
  request: RepositoryRequest,
  time: TimeStep,
): Promise<Obstacle | undefined> {
  const { project, build } = request;
  const remote = await deps.remote(project, build, time);
  if ('trouble' in remote)
    return { reason: `it is not in the mirror, and ${remote.trouble.text}`, trouble: remote.trouble };
  const origin = commitOrigin(request, await deps.readItem(build));
  switch (origin.kind) {
    case 'unknown':
      return { reason: `it is not in the mirror, and ${origin.reason}` };
    case 'at-ref':
      return fetchAt(repository, remote, project, origin);
    case 'merged':
      return remake(repository, remote, project, origin);
    default:
      return assertNever(origin);
  }
}

async function fetchAt(
  repository: Workplace,
  remote: Remote,
  project: ProjectKey,
  { ref, commit }: Extract<CommitOrigin, { kind: 'at-ref' }>,
): Promise<Obstacle | undefined> {
  const outcome = await repository.fetch(remote, [{ ref, commit }]);
  if (outcome.kind !== 'fetched') return blame(project, outcome.reason, `the code host: ${outcome.message}`);
  return outcome.commits[0] === undefined ? blame(project, 'missing-ref', goneText(ref, commit)) : undefined;
}

async function remake(
  repository: Workplace,
  remote: Remote,
  project: ProjectKey,
  { recipe }: Extract<CommitOrigin, { kind: 'merged' }>,
): Promise<Obstacle | undefined> {
  const outcome = await remakeMerge(repository, remote, recipe);
  switch (outcome.kind) {
    case 'made':
      return undefined;
    case 'missing':
      return blame(project, 'missing-ref', goneText(outcome.ref, outcome.commit));
    case 'different':
      return {
        reason: `it was made by another machine and comes out different here: ${outcome.detail}; [merger] git_user_name and git_user_email and the version of git must be the same on all machines`,
      };
    case 'remote-failed':
      return blame(project, outcome.reason, `the code host: ${outcome.message}`);
    default:
      return assertNever(outcome);
  }
}

/** The ref was overwritten, and the host may refuse to serve a commit by its id alone. */
function goneText(ref: string, commit: string): string {
  return `${ref} does not lead to commit ${commit} any more, and the code host does not give it`;
}

async function isHere(repository: Repository, id: ObjectId): Promise<boolean> {
  return (await repository.reader.missing([id])).length === 0;
}

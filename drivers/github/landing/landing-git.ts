/** The requests to git of a landing: where the branch is, is the tested commit here, push. Failures of the host are thrown. */
import { LandingUnread, LandingUnsettled } from '../../../src/driver/landing-errors.ts';
import type { GitRemote, RemoteUse } from '../../../src/driver/remote.ts';
import type { ObjectId } from '../../../src/git/objects/object-id.ts';
import type { RefName } from '../../../src/git/objects/ref-name.ts';
import { isWorthAnotherTry } from '../../../src/git/process/failure-table.ts';
import { type MergeRecipe, remakeMerge } from '../../../src/git/remake-merge.ts';
import type { RefChange } from '../../../src/git/remote/push.ts';
import type { Repository } from '../../../src/git/repository.ts';
import { assertNever } from '../../../src/lib/assert-never.ts';
import type { ProjectKey } from '../../../src/model/project.ts';

/** `unknown`: the push was sent, and may have arrived. */
export type LandingPush =
  | { readonly kind: 'pushed' }
  /** Another push came first, or the host had trouble: nothing changed. */
  | { readonly kind: 'not-now'; readonly text: string }
  | { readonly kind: 'refused'; readonly text: string };

/** One repository: its remote and its mirror. @throws LandingUnread where not said otherwise. */
export interface LandingGit {
  /** Branches whose full names begin with one of the prefixes. */
  refs(prefixes: readonly string[]): Promise<ReadonlyMap<RefName, ObjectId>>;
  /** Whether `tip`, which `ref` points at, contains the commit. False when the mirror lacks the commit. */
  contains(ref: RefName, tip: ObjectId, commit: ObjectId): Promise<boolean>;
  /** Of two commits in the mirror. */
  isAncestor(ancestor: ObjectId, descendant: ObjectId): Promise<boolean>;
  /** Makes the tested commit here if another machine made it. @throws Error when the same inputs give another commit. */
  ensure(recipe: MergeRecipe): Promise<void>;
  /** All refs or none. @throws LandingUnsettled when the outcome is not known; what `mayAct` throws. */
  push(changes: readonly RefChange[]): Promise<LandingPush>;
}

/** How a repository is reached. */
export interface LandingGitDeps {
  readonly open: (
    project: ProjectKey,
  ) => Promise<Pick<Repository, 'lsRemote' | 'fetch' | 'chain' | 'isAncestor' | 'push' | 'reader'>>;
  readonly remoteOf: (project: ProjectKey, use: RemoteUse) => Promise<GitRemote>;
}

/** @param requireRight throws when this process may not act any more; called directly before each push. */
export async function openLandingGit(
  project: ProjectKey,
  { open, remoteOf }: LandingGitDeps,
  requireRight: () => void,
): Promise<LandingGit> {
  const repository = await open(project);
  const toRead = () => remoteOf(project, 'read');
  const has = async (commit: ObjectId) => (await repository.reader.missing([commit])).length === 0;
  return {
    async refs(prefixes) {
      const listing = await repository.lsRemote(await toRead(), prefixes);
      if (listing.kind !== 'refs') throw unread(listing);
      return listing.refs;
    },
    async contains(ref, tip, commit) {
      if (tip === commit) return true;
      const fetched = await repository.fetch(await toRead(), [{ ref, commit: tip }]);
      if (fetched.kind !== 'fetched') throw unread(fetched);
      return (await has(tip)) && (await has(commit)) && repository.isAncestor(commit, tip);
    },
    isAncestor: async (ancestor, descendant) =>
      (await has(ancestor)) && (await has(descendant)) && repository.isAncestor(ancestor, descendant),
    async ensure(recipe) {
      if (await has(recipe.commit)) return;
      const made = await remakeMerge(repository, await toRead(), recipe);
      switch (made.kind) {
        case 'made':
          return;
        case 'remote-failed':
          throw unread(made);
        case 'missing':
          throw unread({ reason: 'missing-ref', message: `${made.commit} is not at GitHub any more` });
        case 'different':
          throw new Error(`tested commit ${recipe.commit} cannot be made again: ${made.detail}`);
        default:
          return assertNever(made);
      }
    },
    async push(changes) {
      const remote = await remoteOf(project, 'write');
      requireRight();
      const outcome = await repository.push(remote, changes);
      switch (outcome.kind) {
        case 'pushed':
          return outcome;
        case 'remote-failed':
          throw outcome.reason === 'denied' || outcome.reason === 'limited' || outcome.reason === 'bad-url'
            ? unread(outcome)
            : new LandingUnsettled({ reason: outcome.reason, text: outcome.message });
        case 'rejected': {
          const { rejections } = outcome;
          const text = [...new Set(rejections.map(({ message }) => message))].join('; ');
          const isRule = rejections.some(({ nature }) => !isWorthAnotherTry(nature));
          return { kind: isRule ? 'refused' : 'not-now', text };
        }
        default:
          return assertNever(outcome);
      }
    },
  };
}

function unread({
  reason,
  message,
}: {
  readonly reason: LandingUnread['reason'];
  readonly message: string;
}): LandingUnread {
  return new LandingUnread({ reason, text: message });
}

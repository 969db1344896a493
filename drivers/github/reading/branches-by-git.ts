/** All branches of a repository in one answer of git, which costs nothing of the API's limits. */
import type { Connection } from '../../../src/driver/connection.ts';
import type { Repository } from '../../../src/git/repository.ts';
import type { ProjectKey } from '../../../src/model/project.ts';
import type { BranchesByGit } from './github-branches.ts';

const HEADS = 'refs/heads/';

/** How a repository is reached. */
interface GitDeps {
  readonly open: (project: ProjectKey) => Promise<Pick<Repository, 'lsRemote'>>;
  readonly remoteOf: Connection['remote'];
}

/** What the host does not give now, a later call gets. */
export function branchesByGit({ open, remoteOf }: GitDeps): BranchesByGit {
  return async project => {
    const remote = await remoteOf(project, 'read').catch(unlessHost);
    if (remote === undefined) return undefined;
    const repository = await open(project);
    const listing = await repository.lsRemote(remote, [HEADS]);
    if (listing.kind !== 'refs') return undefined;
    return new Map([...listing.refs].map(([ref, tip]) => [ref.slice(HEADS.length), tip]));
  };
}

/** The host gave no access. @throws what is no trouble of a host. */
function unlessHost(error: unknown): undefined {
  if (!(error instanceof Error && 'retryable' in error)) throw error;
  return undefined;
}

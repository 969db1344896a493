/** What a branch holds after GitHub merged by itself: the commit it made, with its tree read back. The caller compares it. */
import type { LandedBranch } from '../../../src/model/landed.ts';
import { parseCommitId } from '../../../src/model/project.ts';
import type { GithubAnswer } from '../api/port.ts';
import type { LandingContext } from './landing-context.ts';

/** One request. @param commit that GitHub named. */
export async function readLanded(
  commit: string,
  { api, call, change }: Pick<LandingContext, 'api' | 'call' | 'change'>,
): Promise<GithubAnswer<LandedBranch>> {
  const answer = await api.rest(
    'git/get-commit',
    'GET /repos/{owner}/{repo}/git/commits/{commit_sha}',
    { commit_sha: commit },
    call,
  );
  if (answer.kind !== 'ok') return answer;
  const { project, branch } = change;
  return {
    ...answer,
    data: { project, branch, commit: parseCommitId(commit), tree: answer.data.tree.sha },
  };
}

/** A pull request and its branches as GitHub has them directly before and after a landing. */
import type { LandingOutcome } from '../../../src/driver/landing.ts';
import { addMilliseconds } from '../../../src/lib/clock.ts';
import type { LandedBranch } from '../../../src/model/landed.ts';
import { parseCommitId, shortCommit } from '../../../src/model/project.ts';
import type { GithubAnswer } from '../api/port.ts';
import { type LandingContext, stagingBranch } from './landing-context.ts';
import { LANDING_STATE, type LandingStateAnswer } from './landing-query.ts';
import { SHORT_WAIT_MS } from './short-wait.ts';

/** As far as a landing looks at it. */
export interface LandingNow {
  readonly isOpen: boolean;
  /** Commit that holds it in the base branch; null: it is not merged. */
  readonly mergedAs: LandedBranch | null;
  readonly head: string;
  readonly base: string;
  /** Null: GitHub has not computed it yet. */
  readonly mergeable: boolean | null;
  /** Of the branch that was tested; null: it is gone. */
  readonly tip: LandedBranch | null;
  /** Where the staging branch of this landing is; null: there is none. */
  readonly staged: string | null;
}

/** One request. */
export async function readLandingNow(context: LandingContext): Promise<GithubAnswer<LandingNow>> {
  const { api, repository, pull, change, call } = context;
  const [owner = '', name = ''] = repository.split('/');
  const answer = await api.graphql<LandingStateAnswer>(
    'landing-state',
    LANDING_STATE,
    { owner, name, number: pull, branch: `refs/heads/${change.branch}`, staging: stagingBranch(context) },
    call,
  );
  if (answer.kind !== 'ok') return answer;
  const found = answer.data.repository?.pullRequest;
  if (found === undefined || found === null)
    return { kind: 'refused', status: 404, text: 'GitHub does not show the pull request', errors: [] };
  const { merged, mergeCommit, mergeable } = found;
  if (merged && mergeCommit === null)
    return notYet('merged, and GitHub does not show the commit yet', context);
  const target = answer.data.repository?.branch?.target;
  return {
    ...answer,
    data: {
      isOpen: found.state === 'OPEN',
      mergedAs:
        merged && mergeCommit !== null ? landedBranch(mergeCommit.oid, mergeCommit.tree.oid, context) : null,
      head: found.headRefOid,
      base: found.baseRefName,
      mergeable: mergeable === 'UNKNOWN' ? null : mergeable === 'MERGEABLE',
      tip: target?.tree === undefined ? null : landedBranch(target.oid, target.tree.oid, context),
      staged: answer.data.repository?.staging?.target?.oid ?? null,
    },
  };
}

function landedBranch(
  commit: string,
  tree: string,
  { change: { project, branch } }: Pick<LandingContext, 'change'>,
): LandedBranch {
  return { project, branch, commit: parseCommitId(commit), tree };
}

function notYet(text: string, { now }: Pick<LandingContext, 'now'>): GithubAnswer<never> {
  return { kind: 'later', later: { reason: 'other', text, notBefore: addMilliseconds(now, SHORT_WAIT_MS) } };
}

/** Why the pull request must not land; undefined: nothing speaks against it. */
export function pullObstacle(
  now: LandingNow,
  { change }: Pick<LandingContext, 'change'>,
): LandingOutcome | undefined {
  if (!now.isOpen) return { kind: 'refused', text: 'the pull request was closed' };
  if (now.base !== change.branch)
    return { kind: 'refused', text: `the pull request is for ${now.base} now, tested was ${change.branch}` };
  if (now.head !== change.commit) {
    const text = `the pull request is at ${now.head.slice(0, 8)}, tested was ${shortCommit(change.commit)}`;
    return { kind: 'refused', text };
  }
  return undefined;
}

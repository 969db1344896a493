/**
 * Landing by GitHub's API: GitHub merges and makes a commit of its own.
 *
 *     merged already                                   landed, as GitHub says (a lost answer is looked up here)
 *     the branch holds what was tested, pull open      landed: a read that is behind, or the same content pushed by hand
 *     the branch holds what the test began on          merge, if the head is still the tested one
 *     the branch holds another tree                    base-moved
 *
 * Between the comparison and the merge the branch may move. GitHub notices that in some cases ("Base branch was modified");
 * for the others the tree of what it made is read back, and the caller compares it with the tested one.
 */

import type { LandingOutcome } from '../../../src/driver/landing.ts';
import { LandingUnread, LandingUnsettled } from '../../../src/driver/landing-errors.ts';
import type { LandedBranch } from '../../../src/model/landed.ts';
import { type NotOk, saidBy } from '../reporting/report-context.ts';
import { branchKey, type LandingContext, landedAs, unshownPull } from './landing-context.ts';
import { type LandingNow, pullObstacle, readLandingNow } from './landing-now.ts';
import { judgeMergeRefusal } from './merge-refusal.ts';
import { requiredChecksIn } from './push-refusal.ts';
import { missesOwnOnly } from './unnoticed-votes.ts';
import { readLanded } from './verify-tree.ts';

/** GitHub's three ways to merge. */
type MergeMethod = 'merge' | 'squash' | 'rebase';

/** @param method as the merge mode asks for. @throws LandingUnsettled. */
export async function landByApi(
  method: MergeMethod | 'cherry-pick',
  context: LandingContext,
): Promise<LandingOutcome> {
  if (method === 'cherry-pick')
    return { kind: 'refused', text: 'GitHub cannot cherry-pick a pull request: set landing = push' };
  const settled = await settledNow(context);
  if (settled !== undefined) return settled;
  const { votes, knownToNeedChecks, change } = context;
  if (knownToNeedChecks.get(branchKey(context)) === true) {
    const given = await votes.give(change.commit);
    if (given.kind === 'later') return given;
  }
  const first = await merge(method, context);
  if (!('needsChecks' in first)) return first;
  knownToNeedChecks.set(branchKey(context), true);
  const given = await votes.give(change.commit);
  if (given.kind === 'later') return given;
  const second = await merge(method, context);
  if (!('needsChecks' in second)) return second;
  const { needsChecks: said } = second;
  const isUnnoticed = given.kind === 'done' && missesOwnOnly(requiredChecksIn(said), votes.name);
  const again = isUnnoticed ? context.unnoticed.again(said, context) : undefined;
  if (again !== undefined) return again;
  const own = given.kind === 'failed' ? `; our own was not taken: ${given.text}` : '';
  return { kind: 'refused', text: `GitHub did not merge: a required check is missing or failed${own}` };
}

/** What has landed so far, empty: nothing. @throws LandingUnread. */
export async function landedByApi(context: LandingContext): Promise<readonly LandedBranch[]> {
  const now = await readLandingNow(context);
  if (now.kind === 'refused') throw new LandingUnread({ reason: 'denied', text: now.text });
  if (now.kind !== 'ok') throw new LandingUnread(now.later);
  return now.data.mergedAs === null ? [] : [now.data.mergedAs];
}

/** The outcome when nothing is to be merged; undefined: merge. Asks GitHub. */
async function settledNow(context: LandingContext): Promise<LandingOutcome | undefined> {
  const now = await readLandingNow(context);
  return now.kind === 'ok' ? settledBy(now.data, context) : unshownPull(now);
}

function settledBy(now: LandingNow, context: LandingContext): LandingOutcome | undefined {
  if (now.mergedAs !== null) return landedAs(now.mergedAs);
  const { change, tested } = context;
  if (now.tip === null) return { kind: 'refused', text: `branch ${change.branch} is gone` };
  const { commit, tree } = now.tip;
  const isBase = commit === tested.before || tree === tested.beforeTree;
  if (!isBase && tree === tested.tree) return landedAs(now.tip);
  const obstacle = pullObstacle(now, context);
  if (obstacle !== undefined || isBase) return obstacle;
  const text = `${change.branch} is at ${commit.slice(0, 8)} and holds another tree than ${tested.before.slice(0, 8)}, on which it was tested`;
  return { kind: 'base-moved', text };
}

/** What GitHub said of required checks. */
interface NeedsChecks {
  readonly needsChecks: string;
}

/** One merge, whose lost answer is looked up. */
async function merge(method: MergeMethod, context: LandingContext): Promise<LandingOutcome | NeedsChecks> {
  const { api, pull, change, call, message } = context;
  const [title = '', ...body] = message.split('\n');
  // GitHub makes the messages of a rebase from the commits.
  const texts = method === 'rebase' ? {} : { commit_title: title, commit_message: body.join('\n').trim() };
  const answer = await api.rest(
    'pulls/merge',
    'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge',
    { pull_number: pull, sha: change.commit, merge_method: method, ...texts },
    call,
  );
  switch (answer.kind) {
    case 'ok': {
      const landed = await readLanded(answer.data.sha, context);
      if (landed.kind === 'ok') return landedAs(landed.data);
      throw new LandingUnsettled(troubleIn(landed, 'merged, and what GitHub made could not be read'));
    }
    case 'later':
      return { kind: 'later', ...answer.later };
    case 'lost':
      return lookUp(answer, context);
    case 'refused':
      return afterRefusal(answer, context);
  }
}

/** The merge may have been done. */
async function lookUp(
  lost: Extract<NotOk, { readonly kind: 'lost' }>,
  context: LandingContext,
): Promise<LandingOutcome> {
  const settled = await settledNow(context);
  if (settled?.kind === 'landed') return settled;
  throw new LandingUnsettled(lost.later);
}

async function afterRefusal(
  { status, text: answered }: Extract<NotOk, { readonly kind: 'refused' }>,
  context: LandingContext,
): Promise<LandingOutcome | NeedsChecks> {
  const text = saidBy(answered);
  const meaning = judgeMergeRefusal(status, text);
  if (meaning === 'needs-checks') return { needsChecks: text };
  // What GitHub hides may be hidden as a whole, because access to it was lost.
  if (typeof meaning !== 'string' && status !== 404) return { kind: 'refused', text: meaning.refused };
  const now = await readLandingNow(context);
  if (now.kind !== 'ok') return unshownPull(now);
  if (typeof meaning !== 'string') return { kind: 'refused', text: meaning.refused };
  const settled = settledBy(now.data, context);
  if (settled !== undefined) return settled;
  if (meaning === 'busy' && now.data.mergeable === false)
    return { kind: 'refused', text: `GitHub did not merge: ${text}` };
  // By what it shows nothing has moved: it has not noticed yet, or still computes.
  return context.unready.again(text, context);
}

function troubleIn(
  answer: NotOk,
  text: string,
): Pick<LandingUnsettled, 'reason'> & { readonly text: string } {
  return answer.kind === 'refused'
    ? { reason: 'other', text: `${text}: ${answer.text}` }
    : { reason: answer.later.reason, text: `${text}: ${answer.later.text}` };
}

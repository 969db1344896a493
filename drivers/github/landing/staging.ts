/** The staging branch of a landing: the tested commit is there while it gets the check that its branch requires of it. */

import type { LandingOutcome } from '../../../src/driver/landing.ts';
import { LandingUnread, LandingUnsettled } from '../../../src/driver/landing-errors.ts';
import type { ObjectId } from '../../../src/git/objects/object-id.ts';
import type { RefChange } from '../../../src/git/remote/push.ts';
import type { LandingContext } from './landing-context.ts';
import type { LandingGit } from './landing-git.ts';
import { landingIds } from './landing-places.ts';
import { knowsNoCommit } from './unnoticed-votes.ts';

/** Pushes the commit to its staging branch, and gives it our success. @returns why not. @throws LandingUnread, LandingUnsettled. */
export async function stage(
  staged: ObjectId | undefined,
  context: LandingContext,
  git: LandingGit,
): Promise<LandingOutcome | undefined> {
  const { commit, staging } = landingIds(context);
  const { votes, change } = context;
  if (votes.name === undefined) {
    const text = `${change.branch} requires checks on the pushed commit, and this reporter gives none: add check or status to it, or let the App bypass the rule`;
    return { kind: 'refused', text };
  }
  if (staged !== commit) {
    const pushed = await git.push([{ ref: staging, from: staged ?? null, to: commit, force: true }]);
    if (pushed.kind === 'refused')
      return { kind: 'refused', text: `GitHub refused the branch ${staging}: ${pushed.text}` };
    if (pushed.kind === 'not-now') throw new LandingUnread({ reason: 'other', text: pushed.text });
  }
  const given = await votes.give(context.tested.commit);
  switch (given.kind) {
    case 'done':
      return undefined;
    case 'failed':
      return (
        (knowsNoCommit(given.text) ? context.unnoticed.again(given.text, context) : undefined) ?? {
          kind: 'refused',
          text: given.text,
        }
      );
    case 'later':
      return given;
  }
}

/** The part of a push that removes the staging branch, if there is one. */
export function unstaging(staged: ObjectId | undefined, context: LandingContext): readonly RefChange[] {
  return staged === undefined ? [] : [{ ref: landingIds(context).staging, from: staged, to: null }];
}

/** After the landing: what fails is logged, and the branch is left. */
export async function removeStaged(
  staged: ObjectId | undefined,
  context: LandingContext,
  git: LandingGit,
): Promise<void> {
  if (staged === undefined) return;
  try {
    await git.push(unstaging(staged, context));
  } catch (error) {
    if (!(error instanceof LandingUnread || error instanceof LandingUnsettled)) throw error;
    const { staging: ref } = landingIds(context);
    context.log.warn({ ref, reason: error.message }, 'landed; its staging branch is left');
  }
}

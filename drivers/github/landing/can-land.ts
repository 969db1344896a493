/**
 * Whether GitHub would land a pull request: its state, its conflicts, and what branch protection and rulesets demand of the base.
 * Asked before the change is tested, so that no test runs for hours and GitHub refuses at the end.
 *
 * The rules are judged here even where the connection may bypass them: a gate that lands what lacks a required review is worse
 * than one that waits. What the pipeline itself gives at its end (its check, its review) counts as given.
 *
 * Rules that could not be read are no reason to refuse: that is a failure of the host, and no verdict on a change. What the pull
 * request itself shows is still judged, and GitHub judges the rest when it lands.
 */
import type { Mergeability } from '../../../src/driver/mergeability.ts';
import { parsedBefore } from '../../../src/driver/read-mapping.ts';
import type { Verdict } from '../../../src/driver/verdict.ts';
import type { ChangeRecord } from '../../../src/model/change.ts';
import type { Json } from '../../../src/model/job.ts';
import { projectIdOf } from '../../../src/model/project.ts';
import { pullFactsOf } from '../language/pull-facts.ts';
import { parseGithubReporter } from '../language/reporter-config.ts';
import { branchRefuses, mergeMethodOf } from './branch-refuses.ts';
import type { LandingCase, OurVotes } from './landing-case.ts';
import { missingChecks } from './missing-checks.ts';
import { missingReviews } from './missing-reviews.ts';

type Question = Parameters<Mergeability['canLand']>[1];

/** See {@link Mergeability}; listed in the driver. */
export const githubMergeability: Mergeability = {
  votesOf(reporter, { tenant, pipeline }) {
    const { check, status, review } = parsedBefore(parseGithubReporter(reporter));
    const good = status === 'success' || check === 'success' || check === 'neutral' || check === 'skipped';
    const votes: OurVotes = {
      contexts: good ? [`${tenant}/${pipeline}`] : [],
      approves: review === 'approve',
    };
    return votes;
  },
  canLand,
};

function canLand(record: ChangeRecord, question: Question): Verdict {
  const facts = pullFactsOf(record);
  if (facts === undefined) return { met: true, text: 'it is not a pull request' };
  // A landed change stays in its queue until its report is done.
  if (record.status === 'merged') return { met: true, text: 'it is merged' };
  if (record.status === 'abandoned') return { met: false, text: 'the pull request is closed' };
  const asked: LandingCase = {
    facts,
    place: `branch ${facts.base} of ${projectIdOf(record.change.project).name}`,
    votes: together(question.ourVotes),
    mode: question.mode,
    method: mergeMethodOf(question.mergeMode),
  };
  const refusal =
    ownState(asked) ??
    missingReviews(asked) ??
    missingChecks(asked) ??
    (facts.rules === null ? undefined : branchRefuses(facts.rules, asked));
  if (refusal !== undefined) return { met: false, text: refusal };
  if (facts.rules === null)
    return {
      met: true,
      text: `the rules of ${asked.place} are not known: ${facts.rulesProblem ?? 'not read'}`,
    };
  return { met: true, text: `all rules of ${asked.place} are met` };
}

/** @param votes as `votesOf` returned them. */
function together(votes: readonly Json[]): OurVotes {
  const ours = votes as readonly OurVotes[];
  return {
    contexts: ours.flatMap(({ contexts }) => contexts),
    approves: ours.some(({ approves }) => approves),
  };
}

function ownState({ facts, place }: LandingCase): string | undefined {
  if (facts.draft) return 'the pull request is a draft';
  // `unknown` is no conflict: GitHub still computes it, and our merger decides.
  if (facts.mergeable === 'conflicting') return `it conflicts with ${place}`;
  if (facts.changesWorkflows && facts.mayChangeWorkflows === false)
    return 'it changes files below .github/workflows/, and the App lacks the permission workflows: write';
  return undefined;
}

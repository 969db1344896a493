/**
 * Whether Gerrit would submit a change: its state, its conflicts, the changes below it, and what submit requirements, submit records or
 * labels demand. Asked before the change is tested, so that no test runs for hours and Gerrit refuses at the end.
 *
 * What the pipeline votes at its end counts as given, as far as the account may vote so. A private change that we can read can be
 * submitted.
 */
import type { Mergeability } from '../../../src/driver/mergeability.ts';
import type { Verdict } from '../../../src/driver/verdict.ts';
import type { ChangeRecord } from '../../../src/model/change.ts';
import type { Json } from '../../../src/model/job.ts';
import { projectIdOf } from '../../../src/model/project.ts';
import type { GerritFacts, ParentFact } from '../facts.ts';
import { gerritFactsOf } from '../language/change-facts.ts';
import { gerritReporterDeeds } from '../language/reporter-config.ts';
import { missingRequirements } from './missing-requirements.ts';
import { brokenRule, missingVotes, unmetRules } from './missing-votes.ts';
import type { PlannedVote, SubmitCase } from './submit-case.ts';

/** What `votesOf` returns. */
type OurLabels = { readonly votes: readonly PlannedVote[] };

type Question = Parameters<Mergeability['canLand']>[1];

/** See {@link Mergeability}; listed in the driver. */
export const gerritMergeability: Mergeability = {
  votesOf: reporter => ({ votes: gerritReporterDeeds(reporter).votes }),
  canLand,
};

function canLand(record: ChangeRecord, { ourVotes }: Question): Verdict {
  const facts = gerritFactsOf(record);
  if (facts === undefined) return { met: true, text: 'it is not a change' };
  // A landed change stays in its queue until its report is done.
  if (record.status === 'merged') return { met: true, text: 'it is merged' };
  if (record.status === 'abandoned') return { met: false, text: 'the change is abandoned' };
  const asked = submitCase(record, facts, ourVotes);
  const refusal =
    ownState(asked) ?? outdatedParent(asked) ?? (facts.submittable === true ? undefined : unmet(asked));
  if (refusal !== undefined) return { met: false, text: refusal };
  return { met: true, text: `all submit rules of ${asked.place} are met` };
}

/** @param votes as `votesOf` returned them. */
function submitCase({ change }: ChangeRecord, facts: GerritFacts, votes: readonly Json[]): SubmitCase {
  const planned = (votes as readonly OurLabels[]).flatMap(each => each.votes);
  const project = projectIdOf(change.project).name;
  const isDenied = ({ label, value }: PlannedVote) => {
    const ours = facts.labels.find(({ name }) => name === label)?.ours;
    return ours !== undefined && ours !== null && (value < ours.min || value > ours.max);
  };
  return {
    facts,
    project,
    place: `branch ${change.branch} of ${project}`,
    votes: planned.filter(vote => !isDenied(vote)),
    denied: planned.filter(isDenied),
  };
}

function ownState({ facts, place }: SubmitCase): string | undefined {
  if (facts.wip) return 'the change is work in progress';
  if (facts.mergeable !== false) return undefined;
  return facts.submitType === 'FAST_FORWARD_ONLY'
    ? `${place} takes fast-forwards only, and the change is not built on its head: rebase it`
    : `Gerrit sees a conflict with ${place}: rebase the change`;
}

/** One that is open lands before this one. A change that is cherry-picked lands without those below it. */
function outdatedParent({ facts: { parents, submitType } }: SubmitCase): string | undefined {
  if (submitType === 'CHERRY_PICK') return undefined;
  return parents.map(parentText).find(text => text !== undefined);
}

function parentText({ number, patchset, currentPatchset, status }: ParentFact): string | undefined {
  const built = `the change is built on ${number},${patchset}`;
  if (status === 'ABANDONED') return `${built}, which is abandoned: rebase the change`;
  if (status === 'MERGED' || patchset === currentPatchset) return undefined;
  return `${built}, which is outdated: ${number} has patch set ${currentPatchset}, rebase the change`;
}

/** Where Gerrit has submit requirements, they hold what its labels and rules demand. */
function unmet(asked: SubmitCase): string | undefined {
  const broken = brokenRule(asked);
  if (broken !== undefined) return broken;
  if (asked.facts.submitRequirements !== null) return missingRequirements(asked);
  return missingVotes(asked) ?? unmetRules(asked) ?? unnamedRule(asked);
}

/** Nothing is missing that the pipeline could give, and Gerrit still says no. */
function unnamedRule({ facts, place, votes }: SubmitCase): string | undefined {
  if (facts.submittable !== false) return undefined;
  const missing = facts.labels.filter(({ state }) => state === 'needed' || state === 'rejected');
  if (missing.some(({ name }) => votes.some(({ label }) => label === name))) return undefined;
  return `Gerrit says that ${place} does not take the change, and names no rule`;
}

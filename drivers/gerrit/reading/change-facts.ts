/** Gerrit's answer about a change → the facts that pipelines look at. Pure. */
import type { ChangeInfo, LabelInfo } from '../api/change-info.ts';
import type { Approval, GerritFacts, LabelFact, ParentFact } from '../facts.ts';

/** Votes and hashtags in the facts; further ones are not seen. */
const MOST_APPROVALS = 500;
const MOST_HASHTAGS = 200;
const MOST_LABELS = 100;

/** @param parents open and abandoned changes that the commit is built on directly. */
export function gerritFacts(info: ChangeInfo, parents: readonly ParentFact[]): GerritFacts {
  const labels = info.labels.slice(0, MOST_LABELS);
  return {
    kind: 'change',
    number: info.number,
    changeId: info.changeId,
    status: info.status,
    wip: info.wip,
    private: info.private,
    topic: info.topic,
    hashtags: info.hashtags.slice(0, MOST_HASHTAGS).toSorted(),
    owner: info.owner,
    uploader: info.revision.uploader,
    patchset: info.revision.number,
    revision: info.revision.commit,
    approvals: labels.flatMap(approvalsOf).slice(0, MOST_APPROVALS),
    labels: labels.map(labelFact),
    submitRequirements: info.submitRequirements,
    submitRecords: info.submitRecords,
    submittable: info.submittable,
    mergeable: info.mergeable,
    submitType: info.submitType,
    parents,
    updatedAt: info.updatedAt,
  };
}

/** By the voter's account, so that equal votes give equal facts. */
function approvalsOf({ name: label, votes }: LabelInfo): readonly Approval[] {
  return votes
    .filter(({ value }) => value !== 0)
    .toSorted((a, b) => (a.by.id ?? 0) - (b.by.id ?? 0))
    .map(({ by, value, at }) => ({ label, value, by, at }));
}

function labelFact(label: LabelInfo): LabelFact {
  const { name, permitted, values } = label;
  const ours = permitted && { min: Math.min(0, ...permitted), max: Math.max(0, ...permitted) };
  return { name, state: stateOf(label), ours, max: values.at(-1) ?? null };
}

/** A lowest vote that does not block rejects nothing (`NoBlock`, `NoOp`). */
function stateOf({ isApproved, isBlocking, isOptional, isRejected }: LabelInfo): LabelFact['state'] {
  if (isBlocking || (isRejected && !isOptional)) return 'rejected';
  if (isOptional) return 'optional';
  return isApproved ? 'met' : 'needed';
}

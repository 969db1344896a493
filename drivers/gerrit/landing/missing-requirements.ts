/** Submit requirements (Gerrit 3.5 and later) that will not be satisfied when the pipeline has voted. */
import type { SubmitRequirement } from '../facts.ts';
import { voteText } from '../language/vote-value.ts';
import { judgeExpression } from './requirement-expression.ts';
import type { PlannedVote, SubmitCase } from './submit-case.ts';

/** Requirements in one sentence. */
const MOST_NAMED = 3;

/** @returns which requirement is not satisfied, with its expression; undefined: none. */
export function missingRequirements(asked: SubmitCase): string | undefined {
  const missing = (asked.facts.submitRequirements ?? []).flatMap(each => refusal(each, asked) ?? []);
  if (missing.length === 0) return undefined;
  const more = missing.length > MOST_NAMED ? ` and ${missing.length - MOST_NAMED} more` : '';
  return `${asked.place} requires ${missing.slice(0, MOST_NAMED).join(', ')}${more}`;
}

function refusal(requirement: SubmitRequirement, asked: SubmitCase): string | undefined {
  const { name, status, expression } = requirement;
  if (status === 'ERROR') return `${name} (Gerrit cannot evaluate ${expression})`;
  if (status !== 'UNSATISFIED' || isSatisfiedBy(asked.votes, requirement, asked)) return undefined;
  const denied = asked.denied.filter(({ label }) => requirement.labels.includes(label));
  if (isSatisfiedBy([...asked.votes, ...denied], requirement, asked))
    return `${name} (${expression}), and the account may not vote ${votesText(denied)} on ${asked.project}`;
  const ours = asked.votes.filter(({ label }) => requirement.labels.includes(label));
  const withOurs = ours.length === 0 ? '' : `, also with ${votesText(ours)} of the pipeline`;
  return `${name} (${expression}${withOurs})`;
}

/** What votes alone do not decide is left to Gerrit where one of ours is named, as Zuul does. */
function isSatisfiedBy(
  planned: readonly PlannedVote[],
  { labels, expression }: SubmitRequirement,
  { facts }: SubmitCase,
): boolean {
  if (!planned.some(({ label }) => labels.includes(label))) return false;
  return judgeExpression(expression, { ...facts, planned }) !== false;
}

function votesText(votes: readonly PlannedVote[]): string {
  return votes.map(({ label, value }) => voteText(label, value)).join(' and ');
}

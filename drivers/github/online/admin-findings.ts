/** Pipelines that ask for administrators, of a connection that does not read who they are. Pure. */
import type { OnlineFinding, PipelineUse, ProjectUse } from '../../../src/driver/online-check.ts';
import { parsedBefore } from '../../../src/driver/read-mapping.ts';
import { type GithubRequirement, parseGithubRequirement } from '../language/requirement-config.ts';
import { parseGithubTrigger } from '../language/trigger-config.ts';

/** @param readsAdmins what the connection says. */
export function adminFindings(
  { pipelines }: ProjectUse,
  readsAdmins: boolean,
): readonly Omit<OnlineFinding, 'project'>[] {
  if (readsAdmins) return [];
  const names = new Set(
    pipelines.filter(asksForAdmins).map(({ tenant, pipeline }) => `${tenant}/${pipeline}`),
  );
  return [...names].map(name => ({
    severity: 'warning',
    text: `${name} looks for reviews of administrators, and only the owner of a personal repository counts as one: set admin_reviews = true`,
  }));
}

function asksForAdmins({ requirements, triggers }: PipelineUse): boolean {
  const ofTriggers = triggers.flatMap(trigger => {
    const { require, reject } = parsedBefore(parseGithubTrigger(trigger));
    return [require, reject].filter(each => each !== undefined);
  });
  const own = requirements.map(requirement => parsedBefore(parseGithubRequirement(requirement)));
  return [...own, ...ofTriggers].some(namesAdminsOnly);
}

function namesAdminsOnly({ review = [] }: GithubRequirement): boolean {
  return review.some(
    ({ permission = [] }) => permission.length > 0 && permission.every(each => each === 'admin'),
  );
}

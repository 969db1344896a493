/** Which pushes a protected branch takes: written to a file for the pre-receive hook before each push. */
import { writeFile } from 'node:fs/promises';
import { isSatisfied, requiredOf } from './contexts.ts';
import type { Repository, Rules } from './world.ts';

export async function writePushRules(repository: Repository): Promise<void> {
  const protection = [...repository.protection].map(([branch, rules]) =>
    line(repository, branch, rules, 'GH006'),
  );
  const rulesets = repository.rulesets.map(rules => line(repository, rules.branch, rules, 'GH013'));
  await writeFile(
    `${repository.dir}/protected-refs`,
    [...protection, ...rulesets].map(each => `${each}\n`).join(''),
  );
}

function line(repository: Repository, branch: string, rules: Rules, code: 'GH006' | 'GH013'): string {
  const never = rules.locked || rules.mergeQueue || rules.approvals > 0 || rules.signatures;
  const actors = rules.pushers === null ? '*' : rules.pushers.join(' ') || '-';
  const commits = never ? '-' : rules.checks.length === 0 ? '*' : passed(repository, rules).join(' ') || '-';
  const ref = `refs/heads/${branch}`;
  const first =
    code === 'GH006'
      ? `GH006: Protected branch update failed for ${ref}.`
      : `GH013: Repository rule violations found for ${ref}.`;
  const merges = rules.linearHistory ? 'linear' : 'merges';
  return [
    ref,
    actors,
    commits,
    merges,
    rules.bypass.join(' ') || '-',
    `error: ${first}\\n\\n- ${reason(rules)}`,
  ].join('\t');
}

/** Commits on which everything required succeeded: these may be pushed. */
function passed(repository: Repository, rules: Rules): readonly string[] {
  const known = new Set([
    ...repository.checks.map(each => each.headSha),
    ...repository.statuses.map(each => each.sha),
  ]);
  return [...known].filter(sha =>
    requiredOf(rules).every(({ name, app }) => isSatisfied(repository, sha, name, app)),
  );
}

function reason(rules: Rules): string {
  if (rules.locked) return 'Cannot change this locked branch';
  if (rules.mergeQueue) return 'Changes must be made through the merge queue';
  if (rules.approvals > 0) return 'Changes must be made through a pull request.';
  if (rules.signatures) return 'Commits must have verified signatures.';
  if (rules.linearHistory) return 'This branch must not contain merge commits.';
  const [first, ...more] = requiredOf(rules);
  if (first === undefined) return 'You are not allowed to push to this branch.';
  if (more.length === 0) return `Required status check "${first.name}" is expected.`;
  return `${more.length + 1} of ${more.length + 1} required status checks are expected.`;
}

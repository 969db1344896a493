/** Reads what a repository grants and demands: identity, one query, the rulesets of its default and other protected branches. */

import type { Asked } from '../../../src/driver/ask-online.ts';
import type { OnlineFinding, ProjectUse } from '../../../src/driver/online-check.ts';
import { projectIdOf } from '../../../src/model/project.ts';
import type { GithubAnswer, GithubApi, GithubCall } from '../api/port.ts';
import { isInternalBranch } from '../internal-branches.ts';
import {
  BRANCH_STATE,
  type BranchStateAnswer,
  type ProtectedRef,
  REPOSITORY_STATE,
  type RepositoryStateAnswer,
} from '../reading/query/repository-state.ts';
import { branchRules } from '../reading/rules.ts';
import type { RulesetReader } from '../reading/ruleset-reader.ts';
import type { RepositoryFacts, RulesOfBranch } from './contradictions.ts';

/** GitHub answered, and there is nothing to compare: no access, another name, no branch. */
export interface Wrong {
  readonly kind: 'wrong';
  readonly finding: Omit<OnlineFinding, 'project'>;
}

/** Of one connection. */
interface RepositoryReaderDeps {
  readonly api: GithubApi;
  readonly rulesets: RulesetReader;
  readonly landing: RepositoryFacts['landing'];
  readonly readsAdmins: boolean;
}

/** @throws the signal's reason. */
export async function readRepository(
  { project }: ProjectUse,
  { api, rulesets, landing, readsAdmins }: RepositoryReaderDeps,
  call: GithubCall,
): Promise<Asked<Wrong | { readonly kind: 'facts'; readonly facts: RepositoryFacts }>> {
  const identity = await api.identity(call);
  if (identity.kind !== 'ok') return withoutData(identity);
  const [owner = '', name = ''] = call.repository.split('/');
  const answer = await api.graphql<RepositoryStateAnswer>(
    'repository-state',
    REPOSITORY_STATE,
    { owner, name },
    call,
  );
  if (answer.kind !== 'ok') return withoutData(answer);
  const { repository } = answer.data;
  if (repository === null) return wrong('GitHub shows no such repository');
  if (repository.nameWithOwner.toLowerCase() !== projectIdOf(project).name.toLowerCase())
    return wrong(
      `it is named ${repository.nameWithOwner} at GitHub now: write the new name into the tenant file`,
    );
  const { defaultBranchRef: ref, viewerPermission } = repository;
  if (ref === null) return wrong('the repository is empty: its rules are not known', 'warning');
  const others = await protectedBranches(ref.name, api, call);
  if (others.kind !== 'ok') return withoutData(others);
  const rules: RulesOfBranch[] = [];
  for (const branch of [ref.name, ...others.data.slice(0, MOST_OTHERS)]) {
    const protection = branch === ref.name ? ref : await protectionOf(branch, api, call);
    if ('kind' in protection) return withoutData(protection);
    const listed = await rulesets.read(branch, call);
    if (listed.kind === 'later' || listed.kind === 'lost') return withoutData(listed);
    const read =
      listed.kind === 'ok'
        ? branchRules(branch, repository, protection.branchProtectionRule, listed.data)
        : listed.text;
    rules.push({ branch, rules: read });
  }
  const facts: RepositoryFacts = {
    readsAdmins,
    identity: identity.data,
    role: identity.data.app === null ? viewerPermission : null,
    branch: ref.name,
    rules,
    unread: Math.max(0, others.data.length - MOST_OTHERS),
    landing,
  };
  return { kind: 'answered', value: { kind: 'facts', facts } };
}

/** Protected branches whose rules are read, beside the default one: two requests each. */
const MOST_OTHERS = 10;

/** Names, the first hundred: those that branch protection or a ruleset protects. */
async function protectedBranches(
  except: string,
  api: GithubApi,
  call: GithubCall,
): Promise<GithubAnswer<readonly string[]>> {
  const answer = await api.rest(
    'repos/list-branches',
    'GET /repos/{owner}/{repo}/branches',
    { per_page: 100, protected: true },
    call,
  );
  if (answer.kind !== 'ok') return answer;
  const names = answer.data.map(({ name }) => name);
  return { ...answer, data: names.filter(name => name !== except && !isInternalBranch(name)) };
}

async function protectionOf(
  branch: string,
  api: GithubApi,
  call: GithubCall,
): Promise<Pick<ProtectedRef, 'branchProtectionRule'> | Exclude<GithubAnswer<never>, { kind: 'ok' }>> {
  const [owner = '', name = ''] = call.repository.split('/');
  const variables = { owner, name, ref: `refs/heads/${branch}` };
  const answer = await api.graphql<BranchStateAnswer>('branch-state', BRANCH_STATE, variables, call);
  if (answer.kind !== 'ok') return answer;
  // It may have been deleted since it was listed.
  return answer.data.repository?.ref ?? { branchProtectionRule: null };
}

function wrong(text: string, severity: OnlineFinding['severity'] = 'error') {
  return { kind: 'answered', value: { kind: 'wrong', finding: { severity, text } } } as const;
}

/** A refusal, and access that is missing as a whole, concern what was asked about; the rest is trouble of the host. */
export function withoutData(answer: Exclude<GithubAnswer<unknown>, { kind: 'ok' }>): Asked<Wrong> {
  if (answer.kind === 'refused') return wrong(answer.text);
  const { later } = answer;
  return later.reason === 'denied' ? wrong(later.text) : { kind: 'later', later };
}

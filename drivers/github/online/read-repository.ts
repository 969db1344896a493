/** Reads what a repository grants and demands: identity, one query, the rulesets of its default branch. */
import type { OnlineFinding, ProjectUse } from '../../../src/driver/online-check.ts';
import { projectIdOf } from '../../../src/model/project.ts';
import type { GithubAnswer, GithubApi, GithubCall } from '../api/port.ts';
import { REPOSITORY_STATE, type RepositoryStateAnswer } from '../reading/query/repository-state.ts';
import { branchRules } from '../reading/rules.ts';
import type { RulesetReader } from '../reading/ruleset-reader.ts';
import type { Asked } from './asked.ts';
import type { RepositoryFacts } from './contradictions.ts';

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
}

/** @throws the signal's reason. */
export async function readRepository(
  { project }: ProjectUse,
  { api, rulesets, landing }: RepositoryReaderDeps,
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
  const listed = await rulesets.read(ref.name, call);
  if (listed.kind === 'later' || listed.kind === 'lost') return withoutData(listed);
  const facts: RepositoryFacts = {
    identity: identity.data,
    role: identity.data.app === null ? viewerPermission : null,
    rules:
      listed.kind === 'ok'
        ? branchRules(ref.name, repository, ref.branchProtectionRule, listed.data)
        : listed.text,
    branch: ref.name,
    landing,
  };
  return { kind: 'answered', value: { kind: 'facts', facts } };
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

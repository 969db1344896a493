/** What pipelines want of a repository, against what GitHub grants and demands there. Pure. */
import type { OnlineFinding, ProjectUse } from '../../../src/driver/online-check.ts';
import { parsedBefore } from '../../../src/driver/read-mapping.ts';
import type { LandingMode } from '../../../src/model/landed.ts';
import type { MergeMode } from '../../../src/model/merge-mode.ts';
import type { GithubIdentity } from '../api/port.ts';
import type { BranchRules } from '../facts.ts';
import { branchRefuses, mergeMethodOf } from '../landing/branch-refuses.ts';
import { githubMergeability } from '../landing/can-land.ts';
import type { OurVotes } from '../landing/landing-case.ts';
import { parseGithubReporter } from '../language/reporter-config.ts';
import { adminFindings } from './admin-findings.ts';
import { missingPermissions } from './missing-permissions.ts';

/** What GitHub says of one repository. */
export interface RepositoryFacts {
  readonly identity: Pick<GithubIdentity, 'login' | 'app' | 'permissions'>;
  /** What the user of a token may do; null: the connection is an App, or GitHub does not say. */
  readonly role: string | null;
  /** The default branch at GitHub. */
  readonly branch: string;
  /** Of the default branch and of other protected ones. */
  readonly rules: readonly RulesOfBranch[];
  /** Protected branches beside these. */
  readonly unread: number;
  readonly landing: LandingMode;
  /** `admin_reviews` of the connection. */
  readonly readsAdmins: boolean;
}

/** What GitHub demands of one branch; a text: why it could not be read. */
export interface RulesOfBranch {
  readonly branch: string;
  readonly rules: BranchRules | string;
}

type Finding = Omit<OnlineFinding, 'project'>;

/** @returns errors first; empty: what the pipelines want is granted. */
export function contradictions(use: ProjectUse, facts: RepositoryFacts): readonly OnlineFinding[] {
  return [
    ...missingPermissions(use, facts),
    ...facts.rules.flatMap(of => [...landingFindings(use, of, facts), ...requiredFindings(use, of, facts)]),
    ...unreadFinding(facts),
    ...adminFindings(use, facts.readsAdmins),
    ...defaultBranchFindings(use, facts),
  ]
    .toSorted((a, b) => a.severity.localeCompare(b.severity))
    .map(finding => ({ ...finding, project: use.project }));
}

/** Whether a change that passes its tests could land at all. */
function landingFindings(
  use: ProjectUse,
  { rules, branch }: RulesOfBranch,
  { landing }: RepositoryFacts,
): readonly Finding[] {
  const modes = new Set(
    use.pipelines.filter(({ success }) => success.some(lands)).map(({ mergeMode }) => mergeMode),
  );
  if (modes.size === 0) return [];
  if (typeof rules === 'string')
    return [{ severity: 'warning', text: `the rules of branch ${branch} could not be read: ${rules}` }];
  const place = `branch ${branch}`;
  const refusals = new Set([...modes].flatMap(mode => refusal(rules, place, landing, mode) ?? []));
  const errors = [...refusals].map((text): Finding => ({ severity: 'error', text }));
  return [...errors, ...landingWarnings(rules, place, landing)];
}

function landingWarnings(rules: BranchRules, place: string, landing: LandingMode): readonly Finding[] {
  if (landing === 'push' && rules.restrictsPushes)
    return [
      {
        severity: 'warning',
        text: `${place} restricts pushes: let the App bypass the rule, or set landing = api`,
      },
    ];
  if (landing === 'push' || !rules.upToDate) return [];
  const text = `${place} wants pull requests up to date before GitHub merges them: each landing makes the next one wait for an update; set landing = push, or give up that rule`;
  return [{ severity: 'warning', text }];
}

function lands(reporter: ProjectUse['pipelines'][number]['success'][number]): boolean {
  return parsedBefore(parseGithubReporter(reporter)).merge === true;
}

function refusal(
  rules: BranchRules,
  place: string,
  landing: LandingMode,
  mode: MergeMode | undefined,
): string | undefined {
  return branchRefuses(rules, { place, mode: landing, method: mergeMethodOf(mode) });
}

/** Required checks under our names that no pipeline of the project gives, or that GitHub does not take from us. */
function requiredFindings(
  use: ProjectUse,
  { rules, branch }: RulesOfBranch,
  { identity }: RepositoryFacts,
): readonly Finding[] {
  if (typeof rules === 'string') return [];
  const tenants = new Set(use.pipelines.map(({ tenant }) => tenant));
  const given = new Set(use.pipelines.flatMap(contextsOf));
  return rules.checks.flatMap(({ name, app, rule }): readonly Finding[] => {
    if (!tenants.has(name.split('/')[0] ?? '')) return [];
    const required = `branch ${branch} requires the check ${name} (${rule})`;
    if (!given.has(name))
      return [
        {
          severity: 'error',
          text: `${required}, which no pipeline gives at its success: add "check: success" or "status: success" to its success reporter, or remove the requirement`,
        },
      ];
    if (app === null || app === (identity.app?.id ?? null)) return [];
    const us = identity.app === null ? 'a token' : `App ${identity.app.id}`;
    return [
      {
        severity: 'error',
        text: `${required} from App ${app} only, and this connection is ${us}: require it from any source, or from this App`,
      },
    ];
  });
}

function unreadFinding({ unread }: RepositoryFacts): readonly Finding[] {
  if (unread === 0) return [];
  const branches = unread === 1 ? 'protected branch' : 'protected branches';
  return [{ severity: 'warning', text: `the rules of ${unread} further ${branches} were not compared` }];
}

function contextsOf({ tenant, pipeline, success }: ProjectUse['pipelines'][number]): readonly string[] {
  return success.flatMap(
    reporter => (githubMergeability.votesOf(reporter, { tenant, pipeline }) as OurVotes).contexts,
  );
}

/** Which branch jobs check out of a project whose changes they do not test. */
const USUAL_BRANCHES: readonly string[] = ['master', 'main'];

function defaultBranchFindings(
  { defaultBranches }: ProjectUse,
  { branch }: RepositoryFacts,
): readonly Finding[] {
  if (USUAL_BRANCHES.includes(branch) || defaultBranches.every(each => each === branch)) return [];
  const other = defaultBranches.filter(each => each !== branch).join(' and ');
  return [
    {
      severity: 'warning',
      text: `the default branch at GitHub is ${branch}, and jobs of other projects check out ${other}: write default-branch: ${branch} into the project's stanza`,
    },
  ];
}

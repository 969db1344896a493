/** Commits, refs and what was said of a commit, as GraphQL sees them. */
import { git, refsOf, tryGit } from '../bare-git.ts';
import { latestChecks, requiredChecks, rulesOf, statusesOf } from '../contexts.ts';
import type { Shape } from '../shape.ts';
import { type CheckRun, type CommitStatus, fullName, idOf, type Repository, type World } from '../world.ts';
import { type PageArguments, page } from './page.ts';
import { actorNode } from './people.ts';
import { pullNode } from './pull.ts';

export function commitNode(world: World, repository: Repository, sha: string): Shape {
  const url = `${world.origin}/${fullName(repository)}/commit/${sha}`;
  const show = (format: string) => git(repository.dir, 'log', '-1', `--format=${format}`, sha);
  return {
    __typename: 'Commit',
    id: `C_${sha}`,
    oid: sha,
    abbreviatedOid: sha.slice(0, 7),
    url,
    commitUrl: url,
    message: () => show('%B'),
    messageHeadline: () => show('%s'),
    messageBody: () => show('%b'),
    committedDate: () => show('%cI'),
    authoredDate: () => show('%aI'),
    author: async () => ({
      name: await show('%an'),
      email: await show('%ae'),
      date: await show('%aI'),
      user: null,
    }),
    committer: async () => ({
      name: await show('%cn'),
      email: await show('%ce'),
      date: await show('%cI'),
      user: null,
    }),
    tree: async () => ({ __typename: 'Tree', id: `T_${sha}`, oid: await show('%T') }),
    parents: async (args: PageArguments) => {
      const parents = (await show('%P')).split(' ').filter(Boolean);
      return page(
        'parents',
        parents.map(each => commitNode(world, repository, each)),
        args,
      );
    },
    status: () => statusNode(world, repository, sha),
    statusCheckRollup: () => rollupNode(world, repository, sha),
    checkSuites: ({ filterBy, ...args }: PageArguments & { filterBy?: { appId?: number | null } | null }) =>
      page('checkSuites', suiteNodes(world, repository, sha, filterBy?.appId ?? undefined), args),
    associatedPullRequests: (args: PageArguments) => {
      const found = [...repository.pulls.values()].filter(
        ({ now }) => now.head === sha || now.mergeCommit === sha,
      );
      return page(
        'associatedPullRequests',
        found.map(each => pullNode(world, repository, each)),
        args,
      );
    },
  };
}

/** Null for a name that is no ref. @param name full */
export function refNode(world: World, repository: Repository, name: string, sha: string): Shape {
  const short = name.replace(/^refs\/(heads|tags)\//, '');
  return {
    __typename: 'Ref',
    id: `REF_${idOf(`${repository.id} ${name}`)}`,
    name: short,
    prefix: name.slice(0, name.length - short.length),
    target: () => objectNode(world, repository, sha),
    branchProtectionRule: () => protectionNode(world, repository, short),
    compare: null,
  };
}

export async function refNodes(
  world: World,
  repository: Repository,
  prefix: string,
): Promise<readonly Shape[]> {
  const all = [...(await refsOf(repository.dir))].filter(([ref]) => ref.startsWith(prefix));
  return all.map(([ref, sha]) => ({
    ...refNode(world, repository, ref, sha),
    name: ref.slice(prefix.length),
    prefix,
  }));
}

/** The commit, tag, tree or blob that an expression stands for; null: none. */
export async function objectNode(
  world: World,
  repository: Repository,
  expression: string,
): Promise<Shape | null> {
  const isId = /^[0-9a-f]{40}$/.test(expression);
  const sha = isId ? expression : await tryGit(repository.dir, 'rev-parse', '--verify', '-q', expression);
  if (sha === undefined) return null;
  const type = await tryGit(repository.dir, 'cat-file', '-t', sha);
  if (type === 'commit') return commitNode(world, repository, sha);
  if (type === 'tag') {
    const marked = /^object ([0-9a-f]+)$/m.exec(await git(repository.dir, 'cat-file', 'tag', sha))?.[1] ?? '';
    return {
      __typename: 'Tag',
      id: `TA_${sha}`,
      oid: sha,
      target: () => objectNode(world, repository, marked),
    };
  }
  if (type === 'tree') return { __typename: 'Tree', id: `T_${sha}`, oid: sha };
  if (type !== 'blob') return null;
  return {
    __typename: 'Blob',
    id: `B_${sha}`,
    oid: sha,
    text: await git(repository.dir, 'cat-file', 'blob', sha),
  };
}

/** Classic branch protection only, as at GitHub: rulesets are not in it. */
export function protectionNode(world: World, repository: Repository, branch: string): Shape | null {
  const rules = repository.protection.get(branch);
  if (rules === undefined) return null;
  const checks = requiredChecks({ ...repository, rulesets: [] }, branch);
  return {
    __typename: 'BranchProtectionRule',
    id: `BPR_${idOf(`${repository.id} ${branch}`)}`,
    pattern: branch,
    databaseId: idOf(`${repository.id} ${branch}`),
    allowsDeletions: false,
    allowsForcePushes: false,
    blocksCreations: false,
    dismissesStaleReviews: false,
    isAdminEnforced: true,
    lockBranch: rules.locked,
    lockAllowsFetchAndMerge: false,
    requireLastPushApproval: false,
    requiredApprovingReviewCount: rules.approvals,
    requiredStatusCheckContexts: checks.map(({ name }) => name),
    requiredStatusChecks: checks.map(({ name, app }) => ({
      context: name,
      app: app === undefined ? null : appNode(world, app),
    })),
    requiresApprovingReviews: rules.approvals > 0,
    requiresCodeOwnerReviews: rules.codeOwners,
    requiresCommitSignatures: rules.signatures,
    requiresConversationResolution: rules.conversations,
    requiresDeployments: false,
    requiresLinearHistory: rules.linearHistory,
    requiresStatusChecks: checks.length > 0,
    requiresStrictStatusChecks: rules.upToDate,
    restrictsPushes: rules.pushers !== null,
    restrictsReviewDismissals: false,
    matchingRefs: async (args: PageArguments & { query?: string | null }) => {
      const refs = await refNodes(world, repository, 'refs/heads/');
      return page(
        'matchingRefs',
        refs.filter(({ name }) => name === branch && branch.includes(args.query ?? '')),
        args,
      );
    },
  };
}

function appNode(world: World, id: number): Shape {
  const slug = id === world.app.id ? world.app.slug : `app-${id}`;
  return { __typename: 'App', id: `A_${id}`, databaseId: id, slug, name: slug };
}

function statusNode(world: World, repository: Repository, sha: string): Shape | null {
  const all = statusesOf(repository, sha);
  if (all.length === 0) return null;
  return {
    id: `ST_${sha}`,
    state: rollupState(repository, sha),
    contexts: all.map(each => contextNode(world, repository, each)),
  };
}

function rollupState(repository: Repository, sha: string): string {
  const states = [
    ...statusesOf(repository, sha).map(({ state }) => state),
    ...latestChecks(repository, sha).map(each =>
      each.status === 'completed' ? (each.conclusion ?? 'failure') : 'pending',
    ),
  ];
  if (states.some(each => !['success', 'neutral', 'skipped', 'pending'].includes(each))) return 'FAILURE';
  return states.includes('pending') ? 'PENDING' : 'SUCCESS';
}

export function rollupNode(world: World, repository: Repository, sha: string): Shape | null {
  const contexts = [
    ...latestChecks(repository, sha).map(each => checkNode(world, repository, each)),
    ...statusesOf(repository, sha).map(each => contextNode(world, repository, each)),
  ];
  if (contexts.length === 0) return null;
  return {
    id: `SCR_${sha}`,
    state: rollupState(repository, sha),
    commit: () => commitNode(world, repository, sha),
    contexts: (args: PageArguments) => page('contexts', contexts, args),
  };
}

function isRequired(repository: Repository, name: string, app: number | null) {
  return ({ pullRequestNumber }: { pullRequestNumber?: number | null }) => {
    const pull = repository.pulls.get(pullRequestNumber ?? -1);
    if (pull === undefined || rulesOf(repository, pull.now.base).length === 0) return false;
    return requiredChecks(repository, pull.now.base).some(
      each => each.name === name && (each.app === undefined || each.app === app),
    );
  };
}

function contextNode(world: World, repository: Repository, status: CommitStatus): Shape {
  return {
    __typename: 'StatusContext',
    id: `SC_${status.id}`,
    context: status.context,
    state: status.state.toUpperCase(),
    description: status.description,
    targetUrl: status.targetUrl,
    createdAt: status.at,
    creator: actorNode(world, status.creator),
    isRequired: isRequired(repository, status.context, null),
  };
}

function checkNode(world: World, repository: Repository, run: CheckRun): Shape {
  return {
    __typename: 'CheckRun',
    id: `CR_${run.id}`,
    databaseId: run.id,
    name: run.name,
    status: run.status.toUpperCase(),
    conclusion: run.conclusion?.toUpperCase() ?? null,
    externalId: run.externalId,
    detailsUrl: run.detailsUrl,
    title: run.output.title,
    summary: run.output.summary,
    text: run.output.text,
    startedAt: run.startedAt,
    completedAt: run.completedAt,
    url: `${world.origin}/${fullName(repository)}/runs/${run.id}`,
    permalink: `${world.origin}/${fullName(repository)}/runs/${run.id}`,
    checkSuite: () =>
      suiteNodes(world, repository, run.headSha).find(({ databaseId }) => databaseId === run.suite),
    isRequired: isRequired(repository, run.name, run.app.id),
  };
}

/** @param app undefined: suites of every App. */
function suiteNodes(world: World, repository: Repository, sha: string, app?: number): readonly Shape[] {
  const checks = latestChecks(repository, sha).filter(each => app === undefined || each.app.id === app);
  const suites = Map.groupBy(checks, each => each.suite);
  return [...suites].map(([id, runs]) => ({
    __typename: 'CheckSuite',
    id: `CS_${id}`,
    databaseId: id,
    status: runs.every(each => each.status === 'completed') ? 'COMPLETED' : 'IN_PROGRESS',
    conclusion: null,
    app: runs[0] === undefined ? null : { ...appNode(world, runs[0].app.id), slug: runs[0].app.slug },
    checkRuns: ({ filterBy, ...args }: PageArguments & { filterBy?: { status?: string | null } | null }) => {
      const status = filterBy?.status?.toLowerCase();
      const wanted = runs.filter(each => status === undefined || each.status === status);
      return page(
        'checkRuns',
        wanted.map(each => checkNode(world, repository, each)),
        args,
      );
    },
  }));
}

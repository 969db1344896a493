/**
 * Reads a pull request: one GraphQL query, beside it the rulesets of its base (remembered), and further pages of contexts where there
 * are more than a hundred.
 */
import type { Clock } from '../../../src/lib/clock.ts';
import { type ProjectKey, projectIdOf } from '../../../src/model/project.ts';
import type { GithubAnswer, GithubApi, GithubCall, GithubIdentity } from '../api/port.ts';
import type { ContextFact } from '../facts.ts';
import type { CommentsRead, KnownComments } from '../reporting/known-comments.ts';
import { openConversations } from './open-conversations.ts';
import { contextFacts, pullFacts } from './pull-facts.ts';
import { type PullRecord, pullRecord } from './pull-record.ts';
import { MORE_CONTEXTS, type MoreContextsAnswer } from './query/commit-pulls.ts';
import { OPEN_PULLS, type OpenPullsAnswer } from './query/open-pulls.ts';
import {
  type CommentsNode,
  type ContextNode,
  type NodePage,
  nodesOf,
  PULL_STATE,
  type PullNode,
  type PullStateAnswer,
  type RepositoryNode,
} from './query/pull-state.ts';
import type { ReviewerAdmins } from './reviewer-admins.ts';
import { branchRules } from './rules.ts';
import type { RulesetAnswer, RulesetReader } from './ruleset-reader.ts';
import { type Unread, unread } from './unread.ts';

/** Of one connection. */
export interface PullReaderDeps {
  readonly api: GithubApi;
  readonly clock: Clock;
  readonly rulesets: RulesetReader;
  readonly admins: ReviewerAdmins;
  /** Gets which comments of ours a reading showed. */
  readonly commentsRead?: KnownComments['read'];
}

/** A pull request as it was read. */
export interface PullReading {
  readonly kind: 'read';
  readonly record: PullRecord;
  readonly pull: PullNode;
  readonly contexts: readonly ContextFact[];
  /** Check runs that have ended, by database id. */
  readonly completedRuns: ReadonlySet<number>;
  readonly us: Pick<GithubIdentity, 'login' | 'app'>;
}

/** What a read of the host came to. */
type PullRead =
  | PullReading
  | Unread
  /** The repository has another name now. */
  | { readonly kind: 'moved'; readonly name: string };

/**
 * Reads one pull request.
 *
 * @param likelyBase its base as it was last seen: the rulesets of that branch are asked for beside the query, not after it. Whether
 *   it still is the base, the answer says.
 */
export type PullReader = (
  project: ProjectKey,
  number: number,
  call: GithubCall,
  likelyBase?: string,
) => Promise<PullRead>;

/** Reads open pull requests, those updated last first. @param after where the page before ended; null: the first page. */
export type OpenPullsReader = (
  project: ProjectKey,
  after: string | null,
  call: GithubCall,
) => Promise<
  | Exclude<PullRead, PullReading>
  | { readonly kind: 'read'; readonly pulls: readonly PullReading[]; readonly next: string | null }
>;

/** Further pages of contexts: up to 500 in all. */
const MOST_PAGES = 4;

/** @returns readers that remember whether GitHub refuses addresses of profiles to these credentials. */
export function createPullReaders(deps: PullReaderDeps): {
  readonly readPull: PullReader;
  readonly readOpenPulls: OpenPullsReader;
} {
  const ask = createAsk(deps.api);
  return {
    async readPull(project, number, call, likelyBase) {
      const what = `${call.repository}#${number}`;
      const begunAt = deps.clock.now();
      const [answer, early] = await Promise.all([
        ask<PullStateAnswer>('pull-state', PULL_STATE, { number }, call),
        likelyBase === undefined ? undefined : deps.rulesets.read(likelyBase, call),
      ]);
      const repository = repositoryOf(answer, project, call, what);
      if ('kind' in repository) return repository;
      const pull = repository.pullRequest;
      if (pull === null) return { kind: 'gone', text: `GitHub shows no pull request ${what}` };
      deps.commentsRead?.({ repository: call.repository, pull: number, begunAt, ours: ourComments(pull) });
      const rulesets = pull.baseRefName === likelyBase ? early : undefined;
      return await completed(project, pull, repository, call, deps, rulesets);
    },
    async readOpenPulls(project, after, call) {
      const answer = await ask<OpenPullsAnswer>('open-pulls', OPEN_PULLS, { after }, call);
      const repository = repositoryOf(answer, project, call, call.repository);
      if ('kind' in repository) return repository;
      const { pageInfo, nodes } = repository.pullRequests;
      const pulls: PullReading[] = [];
      for (const pull of nodesOf({ nodes })) {
        const read = await completed(project, pull, repository, call, deps);
        if (read.kind !== 'read') return read;
        pulls.push(read);
      }
      return { kind: 'read', pulls, next: pageInfo.hasNextPage ? pageInfo.endCursor : null };
    },
  };
}

/** Null: there are more comments than were asked for. */
function ourComments({ comments }: CommentsNode): CommentsRead['ours'] {
  const nodes = nodesOf(comments);
  if (nodes.length < comments.totalCount) return null;
  return nodes.flatMap(({ id, viewerDidAuthor }) => (viewerDidAuthor ? [id] : []));
}

type Ask = <T>(
  operation: string,
  query: string,
  variables: { readonly [name: string]: unknown },
  call: GithubCall,
) => Promise<GithubAnswer<T>>;

/** Asks for addresses of profiles until GitHub refuses them. */
function createAsk(api: GithubApi): Ask {
  let email = true;
  return async <T>(...[operation, query, variables, call]: Parameters<Ask>) => {
    const [owner = '', name = ''] = call.repository.split('/');
    const ask = () => api.graphql<T>(operation, query, { ...variables, owner, name, email }, call);
    const answer = await ask();
    if (!email || answer.kind !== 'refused' || !/\bemail\b|scopes/.test(answer.text)) return answer;
    email = false;
    return await ask();
  };
}

/** The repository, or what the read came to without it. */
function repositoryOf<R extends RepositoryNode>(
  answer: GithubAnswer<{ readonly repository: R | null }>,
  project: ProjectKey,
  call: GithubCall,
  what: string,
): R | Exclude<PullRead, PullReading> {
  if (answer.kind !== 'ok') return unread(answer, what);
  const { repository } = answer.data;
  if (repository === null) return { kind: 'gone', text: `GitHub shows no repository ${call.repository}` };
  const { nameWithOwner } = repository;
  return nameWithOwner.toLowerCase() === projectIdOf(project).name.toLowerCase()
    ? repository
    : { kind: 'moved', name: nameWithOwner };
}

/**
 * What only the API can say besides: contexts and conversations of further pages, rules, permissions.
 *
 * @param early the answer about rulesets of its base; undefined: not asked yet.
 */
async function completed(
  project: ProjectKey,
  pull: PullNode,
  repository: RepositoryNode,
  call: GithubCall,
  deps: PullReaderDeps,
  early?: RulesetAnswer,
): Promise<PullRead> {
  const nodes = await allContexts(pull, call, deps.api);
  if (nodes.kind !== 'ok') return unread(nodes, 'contexts');
  const rulesets = early ?? (await deps.rulesets.read(pull.baseRefName, call));
  if (rulesets.kind === 'later' || rulesets.kind === 'lost') return { kind: 'later', later: rulesets.later };
  const identity = await deps.api.identity(call);
  if (identity.kind !== 'ok') return unread(identity, 'identity');
  const rules =
    rulesets.kind === 'ok'
      ? branchRules(pull.baseRefName, repository, pull.baseRef?.branchProtectionRule ?? null, rulesets.data)
      : rulesets.text;
  const mustBeResolved = typeof rules !== 'string' && rules.conversations;
  const conversations = await openConversations(pull, mustBeResolved, call, deps.api);
  if (conversations.kind !== 'ok') return unread(conversations, 'conversations');
  const admins = await deps.admins(pull, call);
  if (admins.kind !== 'ok') return unread(admins, 'permissions of reviewers');
  const contexts = contextFacts(nodes.data);
  const facts = pullFacts(pull, {
    ...{ contexts, rules, openConversations: conversations.data, admins: admins.data },
    permissions: identity.data.permissions,
    app: identity.data.app?.id ?? null,
  });
  return {
    kind: 'read',
    record: pullRecord(project, pull, facts, deps.clock.now()),
    pull,
    contexts,
    completedRuns: new Set(nodes.data.flatMap(completedRun)),
    us: identity.data,
  };
}

function completedRun(node: ContextNode): readonly number[] {
  return node.__typename === 'CheckRun' && node.status === 'COMPLETED' && node.databaseId !== null
    ? [node.databaseId]
    : [];
}

async function allContexts(
  pull: PullNode,
  call: GithubCall,
  api: GithubApi,
): Promise<GithubAnswer<readonly ContextNode[]>> {
  const [owner = '', name = ''] = call.repository.split('/');
  let page: NodePage<ContextNode> | undefined = nodesOf(pull.commits).at(-1)?.commit.statusCheckRollup
    ?.contexts;
  const nodes = [...nodesOf(page)];
  for (let pages = 0; pages < MOST_PAGES && page?.pageInfo.hasNextPage === true; pages += 1) {
    const variables = { owner, name, commit: pull.headRefOid, after: page.pageInfo.endCursor };
    const answer: GithubAnswer<MoreContextsAnswer> = await api.graphql<MoreContextsAnswer>(
      'more-contexts',
      MORE_CONTEXTS,
      variables,
      call,
    );
    if (answer.kind !== 'ok') return answer;
    page = answer.data.repository?.object?.statusCheckRollup?.contexts;
    nodes.push(...nodesOf(page));
  }
  return { kind: 'ok', status: 200, data: nodes };
}

/** A pull request, as GraphQL sees it. */
import { git, tipOf } from '../bare-git.ts';
import { opinions, reviewDecision } from '../contexts.ts';
import { changedFiles, mergeable } from '../pull-shape.ts';
import type { Shape } from '../shape.ts';
import {
  fullName,
  idOf,
  mayWrite,
  type Pull,
  pullAsRead,
  type Repository,
  type Review,
  type World,
} from '../world.ts';
import { commitNode, refNode, rollupNode } from './commit.ts';
import { type PageArguments, page } from './page.ts';
import { actorNode } from './people.ts';
import { repositoryNode } from './repository.ts';

export function pullNode(world: World, repository: Repository, pull: Pull): Shape {
  const state = pullAsRead(world, pull);
  const asSeen: Pull = { ...pull, now: state };
  const url = `${world.origin}/${fullName(repository)}/pull/${pull.number}`;
  const from = pull.headRepository;
  return {
    __typename: 'PullRequest',
    id: `PR_${pull.id}`,
    databaseId: pull.id,
    fullDatabaseId: String(pull.id),
    number: pull.number,
    title: state.title,
    titleHTML: state.title,
    body: state.body ?? '',
    bodyText: state.body ?? '',
    bodyHTML: state.body ?? '',
    url,
    permalink: url,
    resourcePath: `/${fullName(repository)}/pull/${pull.number}`,
    state: stateWord(asSeen),
    closed: state.state === 'closed',
    closedAt: state.closedAt,
    merged: state.merged,
    mergedAt: state.mergedAt,
    mergedBy: actorNode(world, state.mergedBy),
    mergeCommit: () => (state.mergeCommit === null ? null : commitNode(world, repository, state.mergeCommit)),
    potentialMergeCommit: null,
    isDraft: state.draft,
    locked: false,
    author: actorNode(world, pull.user),
    authorAssociation: 'MEMBER',
    createdAt: pull.createdAt,
    updatedAt: state.updatedAt,
    headRefOid: state.head,
    headRefName: pull.headRef,
    headRepository: () => (from === null ? null : repositoryNode(world, from)),
    headRepositoryOwner: from === null ? null : actorNode(world, from.owner),
    headRef: async () => {
      const tip = from === null ? undefined : await tipOf(from.dir, pull.headRef);
      return tip === undefined || from === null
        ? null
        : refNode(world, from, `refs/heads/${pull.headRef}`, tip);
    },
    baseRefName: state.base,
    baseRefOid: async () => (await tip(repository, state.base)) ?? '0'.repeat(40),
    baseRef: async () => {
      const found = await tip(repository, state.base);
      return found === undefined ? null : refNode(world, repository, `refs/heads/${state.base}`, found);
    },
    baseRepository: () => repositoryNode(world, repository),
    repository: () => repositoryNode(world, repository),
    isCrossRepository: from !== repository,
    maintainerCanModify: false,
    mergeable: async () =>
      ({ true: 'MERGEABLE', false: 'CONFLICTING', null: 'UNKNOWN' })[
        String(await mergeable(world, repository, pull))
      ],
    mergeStateStatus: 'UNKNOWN',
    reviewDecision: () => reviewDecision(repository, asSeen),
    isInMergeQueue: false,
    isMergeQueueEnabled: false,
    mergeQueueEntry: null,
    totalCommentsCount: pull.comments.length,
    changedFiles: async () => (await changedFiles(repository, asSeen)).length,
    additions: 0,
    deletions: 0,
    ...connections(world, repository, asSeen),
  };
}

function connections(world: World, repository: Repository, pull: Pull): Shape {
  const { now } = pull;
  return {
    labels: (args: PageArguments) =>
      page(
        'labels',
        now.labels.map(name => ({ id: `LA_${idOf(name)}`, name, color: 'ededed', description: null })),
        args,
      ),
    files: async (args: PageArguments) => {
      const files = await changedFiles(repository, pull);
      const kinds: Record<string, string> = { added: 'ADDED', removed: 'DELETED', modified: 'MODIFIED' };
      return page(
        'files',
        files.map(({ status, ...rest }) => ({
          ...rest,
          changeType: kinds[status],
          viewerViewedState: 'UNVIEWED',
        })),
        args,
      );
    },
    commits: async (args: PageArguments) => {
      const list = await git(
        repository.dir,
        'rev-list',
        '--reverse',
        '--max-count=250',
        now.head,
        `^${await tipOf(repository.dir, now.base)}`,
      ).catch(() => '');
      const all = list.split('\n').filter(Boolean);
      // A merged pull request still shows its head.
      const shown = all.length === 0 ? [now.head] : all;
      const nodes = shown.map(sha => ({
        id: `PRC_${sha}`,
        url: `${world.origin}/${sha}`,
        commit: commitNode(world, repository, sha),
      }));
      return page('commits', nodes, args);
    },
    statusCheckRollup: () => rollupNode(world, repository, now.head),
    reviews: (args: PageArguments & { states?: readonly string[] | null; author?: string | null }) => {
      const wanted = now.reviews.filter(
        each => (args.states?.includes(each.state) ?? true) && (args.author ?? each.user) === each.user,
      );
      return page(
        'reviews',
        wanted.map(each => reviewNode(world, repository, each)),
        args,
      );
    },
    latestOpinionatedReviews: (args: PageArguments & { writersOnly?: boolean | null }) => {
      const wanted = opinions(pull).filter(
        ({ user }) => args.writersOnly !== true || mayWrite(repository, user),
      );
      return page(
        'latestOpinionatedReviews',
        wanted.map(each => reviewNode(world, repository, each)),
        args,
      );
    },
    latestReviews: (args: PageArguments) => {
      const latest = [...new Map(now.reviews.map(each => [each.user, each])).values()];
      return page(
        'latestReviews',
        latest.map(each => reviewNode(world, repository, each)),
        args,
      );
    },
    reviewThreads: (args: PageArguments) =>
      page(
        'reviewThreads',
        now.threads.map(each => ({ ...each, isOutdated: false, isCollapsed: each.isResolved })),
        args,
      ),
    comments: (args: PageArguments) => {
      const nodes = pull.comments.map(each => ({
        __typename: 'IssueComment',
        id: `IC_${each.id}`,
        databaseId: each.id,
        fullDatabaseId: String(each.id),
        body: each.body,
        bodyText: each.body,
        author: actorNode(world, each.user),
        createdAt: each.at,
        updatedAt: each.updatedAt,
        viewerDidAuthor: each.user === `${world.app.slug}[bot]`,
        url: `${world.origin}/${fullName(repository)}/pull/${pull.number}#issuecomment-${each.id}`,
      }));
      return page('comments', nodes, args);
    },
    closingIssuesReferences: (args: PageArguments) => page('closingIssuesReferences', [], args),
  };
}

function reviewNode(world: World, repository: Repository, review: Review): Shape {
  return {
    __typename: 'PullRequestReview',
    id: `PRR_${review.id}`,
    databaseId: review.id,
    fullDatabaseId: String(review.id),
    state: review.state,
    body: review.body,
    bodyText: review.body,
    author: actorNode(world, review.user),
    authorAssociation: 'MEMBER',
    authorCanPushToRepository: mayWrite(repository, review.user),
    submittedAt: review.at,
    createdAt: review.at,
    publishedAt: review.at,
    updatedAt: review.at,
    commit: () => commitNode(world, repository, review.commit),
  };
}

export function stateWord({ now }: Pull): 'OPEN' | 'CLOSED' | 'MERGED' {
  return now.merged ? 'MERGED' : now.state === 'open' ? 'OPEN' : 'CLOSED';
}

function tip(repository: Repository, branch: string): Promise<string | undefined> {
  return tipOf(repository.dir, branch);
}

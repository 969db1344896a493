/** The port of GitHub's API for tests: pull requests, refs and rules as the API answers them, and every request counted. */
import type { GithubAnswer, GithubApi } from '../../../../../drivers/github/api/port.ts';
import {
  MOST_NOTIFICATION_BYTES,
  type Notification,
  type PullAbout,
} from '../../../../../drivers/github/intake/notification.ts';
import { createOwnLandings, type OwnLandings } from '../../../../../drivers/github/landing/own-landings.ts';
import { createGithubSource } from '../../../../../drivers/github/reading/github-source.ts';
import type {
  ContextNode,
  PullNode,
  ReviewNode,
} from '../../../../../drivers/github/reading/query/pull-state.ts';
import type { RulesetRule } from '../../../../../drivers/github/reading/rules.ts';
import type { ProcessedEvent } from '../../../../../src/driver/source.ts';
import { fromMilliseconds } from '../../../../../src/lib/clock.ts';
import { derivedUuid } from '../../../../../src/lib/ids.ts';
import type { ChangeRecord } from '../../../../../src/model/change.ts';
import type { ConnectionEvent } from '../../../../../src/model/event.ts';
import type { Json } from '../../../../../src/model/job.ts';
import { type ProjectKey, projectKey } from '../../../../../src/model/project.ts';

export const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const TIME = new Date(NOW).toISOString();
export const APP: ProjectKey = projectKey({ connection: 'github', name: 'acme/app' });

/** 40 hex digits that are the same for the same name. */
export function sha(name: string): string {
  return Buffer.from(name).toString('hex').padEnd(40, '0').slice(0, 40);
}

/** An open pull request of alice that changes nothing. */
export function pull(number: number, head: string, more: Partial<PullNode> = {}): PullNode {
  return {
    id: `PR_${number}`,
    number,
    title: 'Let people log in',
    body: '',
    url: `https://github.com/acme/app/pull/${number}`,
    state: 'OPEN',
    isDraft: false,
    createdAt: TIME,
    updatedAt: TIME,
    author: { login: 'alice' },
    baseRefName: 'main',
    baseRefOid: sha('main'),
    headRefName: 'login',
    headRefOid: sha(head),
    headRepository: { nameWithOwner: 'alice/app' },
    mergeable: 'MERGEABLE',
    reviewDecision: null,
    changedFiles: 1,
    labels: { nodes: [] },
    latestOpinionatedReviews: { nodes: [] },
    reviewThreads: threads(),
    files: { nodes: [{ path: 'README.md' }] },
    baseRef: { branchProtectionRule: null },
    commits: { nodes: [{ commit: { oid: sha(head), statusCheckRollup: null } }] },
    ...more,
  };
}

/** @param open whether each conversation is. */
export function threads(...open: boolean[]): PullNode['reviewThreads'] {
  const nodes = open.map(isOpen => ({ isResolved: !isOpen }));
  return { nodes, pageInfo: { hasNextPage: false, endCursor: null } };
}

export function labels(...names: string[]): Pick<PullNode, 'labels'> {
  return { labels: { nodes: names.map(name => ({ name })) } };
}

export function reviews(...nodes: ReviewNode[]): Pick<PullNode, 'latestOpinionatedReviews'> {
  return { latestOpinionatedReviews: { nodes } };
}

/** All but eve may write. */
export function review(login: string, state: string, more: Partial<ReviewNode> = {}): ReviewNode {
  return {
    state,
    submittedAt: TIME,
    authorAssociation: 'COLLABORATOR',
    authorCanPushToRepository: login !== 'eve',
    author: { login },
    commit: { oid: sha('one') },
    ...more,
  };
}

export function status(context: string, state: string, creator: string | null = 'ci-bot'): ContextNode {
  const login = creator === null ? null : { login: creator };
  return { __typename: 'StatusContext', context, state, createdAt: TIME, creator: login };
}

/** @param conclusion null: it goes on. @param app 7 is ours. */
export function run(name: string, conclusion: string | null, app = 7, databaseId = 5): ContextNode {
  return {
    __typename: 'CheckRun',
    databaseId,
    name,
    status: conclusion === null ? 'IN_PROGRESS' : 'COMPLETED',
    conclusion,
    checkSuite: { app: { databaseId: app, slug: app === 7 ? 'gatehouse' : 'other' } },
  };
}

/** The first hundred of them; `World.moreContexts` has the others. */
export function contexts(head: string, ...nodes: ContextNode[]): Pick<PullNode, 'commits'> {
  const pageInfo = { hasNextPage: nodes.length > 100, endCursor: '100' };
  const page = { nodes: nodes.slice(0, 100), pageInfo };
  return { commits: { nodes: [{ commit: { oid: sha(head), statusCheckRollup: { contexts: page } } }] } };
}

interface World {
  name: string;
  archived: boolean;
  readonly pulls: Map<number, PullNode>;
  readonly refs: Map<string, { readonly object: string; readonly commit?: string; readonly tree?: string }>;
  /** Commits by the tag objects that mark them; all other objects are commits. */
  readonly marked: Map<string, string>;
  readonly branches: { readonly name: string; readonly protected: boolean; readonly locked?: true }[];
  moreContexts: readonly ContextNode[];
  /** Of conversations. */
  morePages: readonly PullNode['reviewThreads'][];
  rulesets: readonly RulesetRule[];
  /** Answers every request, where it is set. */
  failure: Exclude<GithubAnswer<never>, { kind: 'ok' }> | undefined;
  readonly requests: string[];
  /** No request is answered before. */
  answersAfter: Promise<void>;
  /** Reactions to comments, as `<comment>: <content>`. */
  readonly reactions: string[];
  readonly memory: Map<string, Json>;
  /** The change cache. */
  readonly records: Map<string, ChangeRecord>;
  /** What this process landed. */
  readonly own: OwnLandings;
  projects: ReadonlySet<ProjectKey>;
}

/** A source over a scripted API, and a driver's memory that each processed event writes. */
export function scriptedGithub(more: { readonly readsAdmins?: true } = {}) {
  const world: World = {
    name: 'acme/app',
    archived: false,
    pulls: new Map(),
    refs: new Map(),
    marked: new Map(),
    branches: [],
    moreContexts: [],
    morePages: [],
    rulesets: [],
    failure: undefined,
    requests: [],
    answersAfter: Promise.resolve(),
    reactions: [],
    memory: new Map(),
    records: new Map(),
    own: createOwnLandings(),
    projects: new Set([APP]),
  };
  let time = NOW;
  const clock = { now: () => fromMilliseconds(time), monotonic: () => time };
  const places = { connection: 'github', webHost: 'github.com', canonicalHostname: 'github.com' };
  const source = createGithubSource({
    api: scriptedApi(world),
    clock,
    branchesByGit: async () => {
      world.requests.push('git');
      return world.failure === undefined
        ? new Map(world.branches.map(({ name }) => [name, sha(name)]))
        : undefined;
    },
    lifetime: new AbortController().signal,
    own: world.own,
    ...places,
    ...more,
  });
  let deliveries = 0;

  function eventOf(notification: Notification): ConnectionEvent {
    deliveries += 1;
    const at = clock.now();
    const text = JSON.stringify(notification);
    if (text.length > MOST_NOTIFICATION_BYTES) throw new Error('too large');
    return {
      uuid: derivedUuid('delivery', String(deliveries)),
      connection: 'github',
      deliveryId: `guid-${deliveries}`,
      type: notification.event,
      payload: JSON.parse(text),
      receivedAt: at,
      storedAt: at,
      sampled: true,
    };
  }

  async function process(event: ConnectionEvent) {
    source.coalesceKey?.(event);
    const outcome = await source.process(event, {
      projects: world.projects,
      memory: { get: async key => world.memory.get(key) },
      record: key => world.records.get(key),
      signal: new AbortController().signal,
    });
    for (const { key, value } of 'later' in outcome ? [] : outcome.memory) {
      if (value === undefined) world.memory.delete(key);
      else world.memory.set(key, value);
    }
    for (const record of 'later' in outcome ? [] : outcome.changes)
      world.records.set(record.change.key, record);
    return outcome;
  }

  function advance(ms: number): void {
    time += ms;
  }

  async function receive(notification: Notification): Promise<ProcessedEvent> {
    const outcome = await process(eventOf(notification));
    if ('later' in outcome) throw new Error(`later: ${outcome.later.text}`);
    return outcome;
  }

  return { world, source, eventOf, process, receive, advance };
}

/** `pull_request labeled gate by bob`, one for each event. */
export function eventLines(processed: ProcessedEvent): readonly string[] {
  return processed.events.map(({ type, facts }) => {
    const { action, actor, ...rest } = facts as { action: string; actor: { login: string } | null };
    const by = actor === null ? [] : [`by ${actor.login}`];
    return [type, action, ...Object.values(rest).map(String), ...by].join(' ');
  });
}

export function aboutPull(number: number, more: Partial<PullAbout> = {}): PullAbout {
  return { kind: 'pull', number, ...more };
}

export function webhook(
  event: string,
  action: string,
  about: Notification['about'],
  actor = 'bob',
): Notification {
  return { event, action, repository: 'acme/app', installation: 1, actor, at: NOW, about };
}

function scriptedApi(world: World): GithubApi {
  const answer = <T>(data: unknown): GithubAnswer<T> =>
    world.failure ?? { kind: 'ok', status: 200, data: data as T };
  const repository = () => ({
    nameWithOwner: world.name,
    isArchived: world.archived,
    mergeCommitAllowed: true,
    squashMergeAllowed: true,
    rebaseMergeAllowed: false,
  });
  return {
    async rest(operation, _route, parameters) {
      world.requests.push(operation);
      await world.answersAfter;
      if (operation === 'repos/get-branch-rules') return answer(world.rulesets);
      if (operation === 'repos/get-collaborator-permission-level')
        return permissionOf((parameters as { username: string }).username, answer);
      if (operation === 'reactions/create-for-issue-comment') {
        const { comment_id, content } = parameters as { comment_id: number; content: string };
        world.reactions.push(`${comment_id}: ${content}`);
        return answer({ id: 1 });
      }
      const { page = 1, protected: only } = parameters as { page?: number; protected?: boolean };
      const branches = world.branches.filter(each => only !== true || each.protected);
      return answer(
        branches
          .slice(100 * (page - 1), 100 * page)
          .map(({ name }) => ({ name, commit: { sha: sha(name) }, protected: true })),
      );
    },
    async graphql(operation, _query, variables) {
      world.requests.push(operation);
      await world.answersAfter;
      return answer({ repository: { ...repository(), ...graphqlAnswer(operation, variables, world) } });
    },
    async identity() {
      const app = { id: 7, slug: 'gatehouse' };
      return answer({ login: 'gatehouse[bot]', app, permissions: { workflows: 'read' } });
    },
  };
}

/** ada administrates, bob may write, eve may read, no other is known. */
function permissionOf<T>(login: string, answer: (data: unknown) => GithubAnswer<T>): GithubAnswer<T> {
  if (login === 'bob') return answer({ permission: 'write' });
  if (login === 'ada') return answer({ permission: 'admin' });
  if (login === 'eve') return answer({ permission: 'read' });
  if (login === 'frank')
    return { kind: 'refused', status: 403, text: 'Resource not accessible by integration', errors: [] };
  return { kind: 'refused', status: 404, text: 'GitHub answered 404: Not Found', errors: [] };
}

function withComments(found: PullNode | undefined): object | null {
  return found === undefined ? null : { ...found, comments: { totalCount: 0, nodes: [] } };
}

function graphqlAnswer(
  operation: string,
  { number, ref, commit, object, after }: { readonly [name: string]: unknown },
  world: World,
): object {
  const pulls = [...world.pulls.values()];
  switch (operation) {
    case 'pull-state':
      return { pullRequest: withComments(world.pulls.get(Number(number))) };
    case 'open-pulls': {
      const from = Number(after ?? 0);
      const open = pulls.filter(each => each.state === 'OPEN');
      const pageInfo = { hasNextPage: open.length > from + 2, endCursor: String(from + 2) };
      return { pullRequests: { nodes: open.slice(from, from + 2), pageInfo } };
    }
    case 'more-contexts': {
      const page = { nodes: world.moreContexts, pageInfo: { hasNextPage: false, endCursor: null } };
      return { object: { statusCheckRollup: { contexts: page } } };
    }
    case 'more-threads':
      return { pullRequest: { reviewThreads: world.morePages[Number(after)] } };
    case 'commit-pulls':
      return {
        object: { associatedPullRequests: { nodes: pulls.filter(each => each.headRefOid === commit) } },
      };
    case 'locked-branches': {
      const nodes = world.branches.filter(each => each.locked).map(({ name }) => ({ name }));
      const pageInfo = { hasNextPage: false, endCursor: null };
      return { branchProtectionRules: { nodes: [{ lockBranch: true, matchingRefs: { nodes } }], pageInfo } };
    }
    case 'marked-commit': {
      const marked = world.marked.get(String(object));
      if (marked === undefined) return { object: { __typename: 'Commit', oid: object } };
      return { object: { __typename: 'Tag', oid: object, target: { __typename: 'Commit', oid: marked } } };
    }
    case 'ref-state': {
      const found = world.refs.get(String(ref));
      if (found === undefined) return { ref: null };
      const peeled =
        found.commit === undefined ? {} : { target: { __typename: 'Commit', oid: found.commit } };
      const tree = found.tree === undefined ? {} : { tree: { oid: found.tree } };
      return { ref: { target: { __typename: 'Commit', oid: found.object, ...tree, ...peeled } } };
    }
    default:
      throw new Error(`the scripted API has no ${operation}`);
  }
}

/** What people do to pull requests. Each deed resolves when its webhooks were answered. */
import { commitFiles, git, tipOf } from '../bare-git.ts';
import { publishHead } from '../refs-moved.ts';
import type { Hub } from '../rest/call.ts';
import { labelShape } from '../shapes.ts';
import {
  type CheckRun,
  type Comment,
  changePull,
  idOf,
  type Pull,
  type PullState,
  type Repository,
  type Review,
  timestamp,
} from '../world.ts';

export interface OpenPullRequest {
  readonly title?: string;
  readonly body?: string | null;
  readonly base?: string;
  /** Branch; made with `files` where there is none. */
  readonly head?: string;
  readonly files?: { readonly [path: string]: string | null };
  /** A fork; absent: the repository itself. */
  readonly from?: Repository;
  readonly user?: string;
  readonly draft?: boolean;
  readonly labels?: readonly string[];
}

export interface PullDeeds {
  openPull(repository: Repository, request?: OpenPullRequest): Promise<Pull>;
  review(
    repository: Repository,
    pull: Pull,
    user: string,
    state: Review['state'],
    body?: string,
  ): Promise<Review>;
  dismiss(repository: Repository, pull: Pull, review: Review, user?: string): Promise<void>;
  comment(repository: Repository, pull: Pull, user: string, body: string): Promise<Comment>;
  editComment(repository: Repository, pull: Pull, comment: Comment, body: string): Promise<void>;
  label(repository: Repository, pull: Pull, name: string, user?: string): Promise<void>;
  unlabel(repository: Repository, pull: Pull, name: string, user?: string): Promise<void>;
  edit(
    repository: Repository,
    pull: Pull,
    fields: { title?: string; body?: string; base?: string },
    user?: string,
  ): Promise<void>;
  close(repository: Repository, pull: Pull, user?: string): Promise<void>;
  reopen(repository: Repository, pull: Pull, user?: string): Promise<void>;
  setDraft(repository: Repository, pull: Pull, draft: boolean, user?: string): Promise<void>;
  /** An unresolved conversation. @returns its id */
  openThread(repository: Repository, pull: Pull): Promise<string>;
  resolveThread(repository: Repository, pull: Pull, id: string, user?: string): Promise<void>;
  /** A status of another service. */
  status(
    repository: Repository,
    sha: string,
    context: string,
    state: string,
    creator?: string,
  ): Promise<void>;
  /** A check run of another App, completed. */
  otherCheck(
    repository: Repository,
    sha: string,
    name: string,
    conclusion: string,
    app?: { id: number; slug: string },
  ): Promise<void>;
  /** "Re-run" on a check run. */
  rerun(repository: Repository, check: CheckRun, user?: string): Promise<void>;
  /** "Re-run all checks". */
  rerunAll(repository: Repository, sha: string, user?: string): Promise<void>;
  /** A button of a check run. */
  pressButton(repository: Repository, check: CheckRun, identifier: string, user?: string): Promise<void>;
}

export function pullDeeds(hub: Hub): PullDeeds {
  const { world, events, deliveries } = hub;
  const settled = () => deliveries.settled();
  const change = async (
    repository: Repository,
    pull: Pull,
    fields: Partial<PullState>,
    action: string,
    user: string,
    more = {},
  ) => {
    changePull(world, pull, fields);
    await events.pull(repository, pull, action, user, more);
    await settled();
  };
  return {
    async openPull(repository, request = {}) {
      const pull = await makePull(hub, repository, request);
      repository.pulls.set(pull.number, pull);
      await events.pull(repository, pull, 'opened', pull.user);
      await settled();
      return pull;
    },
    async review(repository, pull, user, state, body = '') {
      const review: Review = {
        id: world.nextId(),
        user,
        state,
        body,
        commit: pull.now.head,
        at: timestamp(world),
      };
      changePull(world, pull, { reviews: [...pull.now.reviews, review] });
      await events.review(repository, pull, review, 'submitted', user);
      await settled();
      return review;
    },
    async dismiss(repository, pull, review, user = 'alice') {
      const dismissed: Review = { ...review, state: 'DISMISSED' };
      changePull(world, pull, {
        reviews: pull.now.reviews.map(each => (each.id === review.id ? dismissed : each)),
      });
      await events.review(repository, pull, dismissed, 'dismissed', user);
      await settled();
    },
    async comment(repository, pull, user, body) {
      const at = timestamp(world);
      const comment: Comment = { id: world.nextId(), user, body, at, updatedAt: at, reactions: [] };
      pull.comments.push(comment);
      await events.comment(repository, pull, comment, 'created', user);
      await settled();
      return comment;
    },
    async editComment(repository, pull, comment, body) {
      const before = comment.body;
      Object.assign(comment, { body, updatedAt: timestamp(world) });
      await events.comment(repository, pull, comment, 'edited', comment.user, before);
      await settled();
    },
    label: (repository, pull, name, user = 'bob') =>
      change(repository, pull, { labels: [...pull.now.labels, name] }, 'labeled', user, {
        label: labelShape(world, repository, name),
      }),
    unlabel: (repository, pull, name, user = 'bob') =>
      change(repository, pull, { labels: pull.now.labels.filter(each => each !== name) }, 'unlabeled', user, {
        label: labelShape(world, repository, name),
      }),
    async edit(repository, pull, fields, user = pull.user) {
      const { title, body, base } = pull.now;
      const sha = await git(repository.dir, 'rev-parse', `refs/heads/${base}`);
      const changes = {
        ...(fields.title === undefined ? {} : { title: { from: title } }),
        ...(fields.body === undefined ? {} : { body: { from: body ?? '' } }),
        ...(fields.base === undefined ? {} : { base: { ref: { from: base }, sha: { from: sha } } }),
      };
      await change(repository, pull, fields, 'edited', user, { changes });
    },
    close: (repository, pull, user = pull.user) =>
      change(repository, pull, { state: 'closed', closedAt: timestamp(world) }, 'closed', user),
    reopen: (repository, pull, user = pull.user) =>
      change(repository, pull, { state: 'open', closedAt: null }, 'reopened', user),
    setDraft: (repository, pull, draft, user = pull.user) =>
      change(repository, pull, { draft }, draft ? 'converted_to_draft' : 'ready_for_review', user),
    async openThread(_repository, pull) {
      const id = `PRRT_${world.nextId()}`;
      changePull(world, pull, { threads: [...pull.now.threads, { id, isResolved: false }] });
      return id;
    },
    async resolveThread(repository, pull, id, user = 'alice') {
      changePull(world, pull, {
        threads: pull.now.threads.map(each => (each.id === id ? { id, isResolved: true } : each)),
      });
      await events.thread(repository, pull, id, 'resolved', user);
      await settled();
    },
    ...checkDeeds(hub),
  };
}

type CheckDeeds = Pick<PullDeeds, 'status' | 'otherCheck' | 'rerun' | 'rerunAll' | 'pressButton'>;

function checkDeeds({ world, events, deliveries }: Hub): CheckDeeds {
  const settled = () => deliveries.settled();
  return {
    async status(repository, sha, context, state, creator = 'ci-bot') {
      const at = timestamp(world);
      const id = world.nextId();
      repository.statuses.push({ id, sha, context, state, creator, description: null, targetUrl: null, at });
      const facts = {
        id,
        sha,
        name: `${repository.owner}/${repository.name}`,
        context,
        state,
        description: null,
        target_url: null,
      };
      events.send(repository, 'status', undefined, creator, {
        ...facts,
        created_at: at,
        updated_at: at,
        branches: [],
      });
      await settled();
    },
    async otherCheck(repository, sha, name, conclusion, app = { id: 7, slug: 'other-ci' }) {
      const at = timestamp(world);
      const check: CheckRun = {
        id: world.nextId(),
        suite: idOf(`${sha} ${app.id}`),
        app,
        name,
        headSha: sha,
        externalId: '',
        detailsUrl: null,
        status: 'completed',
        conclusion,
        startedAt: at,
        completedAt: at,
        output: { title: null, summary: null, text: null },
        actions: [],
        annotations: [],
      };
      repository.checks.push(check);
      events.check(repository, check, 'completed', `${app.slug}[bot]`);
      await settled();
    },
    async rerun(repository, check, user = 'bob') {
      events.check(repository, check, 'rerequested', user);
      await settled();
    },
    async rerunAll(repository, sha, user = 'bob') {
      events.suite(repository, sha, 'rerequested', user);
      await settled();
    },
    async pressButton(repository, check, identifier, user = 'bob') {
      events.check(repository, check, 'requested_action', user, { requested_action: { identifier } });
      await settled();
    },
  };
}

async function makePull({ world }: Hub, repository: Repository, request: OpenPullRequest): Promise<Pull> {
  const number = repository.nextNumber++;
  const {
    from = repository,
    base = repository.defaultBranch,
    user = 'alice',
    draft = false,
    labels = [],
  } = request;
  const headRef = request.head ?? `topic-${number}`;
  const ref = `refs/heads/${headRef}`;
  const files =
    request.files ?? (request.head === undefined ? { [`file-${number}.txt`]: `${number}\n` } : undefined);
  if (files !== undefined) {
    const parent =
      (await tipOf(from.dir, headRef)) ?? (await git(from.dir, 'rev-parse', `refs/heads/${base}`));
    const message = request.title ?? `Change ${number}`;
    await git(
      from.dir,
      'update-ref',
      ref,
      await commitFiles(from.dir, { parent, files, message, author: user }),
    );
  }
  const head = (await tipOf(from.dir, headRef)) ?? (await git(from.dir, 'rev-parse', ref));
  const at = timestamp(world);
  const pull: Pull = {
    id: world.nextId(),
    number,
    user,
    createdAt: at,
    headRef,
    headRepository: from,
    comments: [],
    now: {
      title: request.title ?? `Change ${number}`,
      body: request.body ?? null,
      base,
      head,
      state: 'open',
      draft,
      merged: false,
      mergedAt: null,
      mergedBy: null,
      mergeCommit: null,
      closedAt: null,
      labels,
      reviews: [],
      threads: [],
      updatedAt: at,
    },
    past: [],
    mergeableFrom: 0,
  };
  await publishHead(repository, pull, from, head);
  return pull;
}

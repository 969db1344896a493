/** Webhook events: GitHub's examples with the fake's facts, sent to the App where it is installed. */
import type { Deliveries } from './deliveries.ts';
import { pullShape } from './pull-shape.ts';
import { type Shape, shapeAt } from './shape.ts';
import { accountShape, appShape, repositoryShape, userShape } from './shapes.ts';
import { webhookExamples } from './webhook-examples.ts';
import {
  type CheckRun,
  type Comment,
  fullName,
  idOf,
  installationOf,
  type Pull,
  type Repository,
  type Review,
  type World,
} from './world.ts';

export interface Events {
  /** @param sender login. @param fields replace members of GitHub's example */
  send(
    repository: Repository,
    event: string,
    action: string | undefined,
    sender: string,
    fields: Shape,
  ): void;
  pull(repository: Repository, pull: Pull, action: string, sender: string, fields?: Shape): Promise<void>;
  review(repository: Repository, pull: Pull, review: Review, action: string, sender: string): Promise<void>;
  comment(
    repository: Repository,
    pull: Pull,
    comment: Comment,
    action: string,
    sender: string,
    before?: string,
  ): Promise<void>;
  check(repository: Repository, check: CheckRun, action: string, sender: string, fields?: Shape): void;
  suite(repository: Repository, sha: string, action: string, sender: string): void;
  thread(repository: Repository, pull: Pull, id: string, action: string, sender: string): Promise<void>;
  /** Of the installation itself. */
  installation(
    event: string,
    action: string,
    installation: { id: number; account: string },
    fields: Shape,
  ): void;
}

export function createEvents(world: World, deliveries: Deliveries): Events {
  const example = (event: string, action?: string, repository?: Repository): Shape => {
    const text = JSON.stringify(webhookExamples().example(event, action)).replaceAll(
      'https://api.github.com',
      world.api,
    );
    const shape: Shape = JSON.parse(
      repository === undefined ? text : text.replaceAll('Codertocat/Hello-World', fullName(repository)),
    );
    const { organization: _, enterprise: __, ...rest } = shape;
    return rest;
  };
  const send = (repository: Repository, event: string, payload: Shape, sender: string) => {
    const installation = installationOf(world, repository);
    if (installation === undefined || installation.suspended) return;
    deliveries.send(
      event,
      {
        ...payload,
        repository: repositoryShape(world, repository, shapeAt(payload, 'repository')),
        sender: accountShape(world, sender),
        installation: { id: installation.id, node_id: `I_${installation.id}` },
      },
      { repositoryId: repository.id, installationId: installation.id },
    );
  };
  const pullPart = async (repository: Repository, pull: Pull, like: Shape): Promise<Shape> => {
    const shape = await pullShape(world, repository, pull, 'full');
    const names = Object.keys(like).filter(
      name => name in shape && !['_links', 'head', 'base'].includes(name),
    );
    const side = (name: string) => {
      const { repo, ...rest } = shapeAt(shape, name);
      const from = name === 'head' ? pull.headRepository : repository;
      void repo;
      return {
        ...shapeAt(like, name),
        ...rest,
        repo: from === null ? null : repositoryShape(world, from, shapeAt(like, name, 'repo')),
      };
    };
    return {
      ...like,
      ...Object.fromEntries(names.map(name => [name, shape[name]])),
      rebaseable: null,
      head: side('head'),
      base: side('base'),
    };
  };
  return {
    send(repository, event, action, sender, fields) {
      const payload = {
        ...example(event, action, repository),
        ...(action === undefined ? {} : { action }),
        ...fields,
      };
      send(repository, event, payload, sender);
    },
    async pull(repository, pull, action, sender, fields = {}) {
      const payload = example('pull_request', action, repository);
      const part = await pullPart(repository, pull, shapeAt(payload, 'pull_request'));
      send(
        repository,
        'pull_request',
        { ...payload, ...fields, action, number: pull.number, pull_request: part },
        sender,
      );
    },
    async review(repository, pull, review, action, sender) {
      const payload = example('pull_request_review', action, repository);
      const like = shapeAt(payload, 'pull_request');
      const part = await pullPart(repository, pull, like);
      const about = {
        ...shapeAt(payload, 'review'),
        id: review.id,
        user: userShape(world, review.user),
        body: review.body === '' ? null : review.body,
        commit_id: review.commit,
        submitted_at: review.at,
        state: review.state.toLowerCase(),
        html_url: `${world.origin}/${fullName(repository)}/pull/${pull.number}#pullrequestreview-${review.id}`,
      };
      // The pull request of a review has fewer members than that of its own events.
      const simple = Object.fromEntries(
        Object.keys(example('pull_request_review', action).pull_request ?? {}).map(name => [
          name,
          part[name],
        ]),
      );
      send(
        repository,
        'pull_request_review',
        { ...payload, action, review: about, pull_request: { ...simple, head: part.head, base: part.base } },
        sender,
      );
    },
    async comment(repository, pull, comment, action, sender, before) {
      const payload = example('issue_comment', action, repository);
      const { id, body, user, at, updatedAt } = comment;
      const url = `${world.api}/repos/${fullName(repository)}`;
      const facts = await pullShape(world, repository, pull, 'simple');
      const names = [
        'number',
        'title',
        'body',
        'state',
        'user',
        'labels',
        'created_at',
        'updated_at',
        'closed_at',
        'assignee',
        'assignees',
        'milestone',
        'html_url',
      ];
      const issue = {
        ...shapeAt(payload, 'issue'),
        ...Object.fromEntries(names.map(name => [name, facts[name]])),
        id: pull.id,
        locked: false,
        comments: pull.comments.length,
        url: `${url}/issues/${pull.number}`,
        pull_request: {
          url: `${url}/pulls/${pull.number}`,
          html_url: String(facts.html_url),
          diff_url: `${facts.html_url}.diff`,
          patch_url: `${facts.html_url}.patch`,
        },
      };
      const about = {
        ...shapeAt(payload, 'comment'),
        id,
        body,
        user: userShape(world, user),
        created_at: at,
        updated_at: updatedAt,
        url: `${url}/issues/comments/${id}`,
        html_url: `${facts.html_url}#issuecomment-${id}`,
      };
      const changes = before === undefined ? {} : { changes: { body: { from: before } } };
      send(repository, 'issue_comment', { ...payload, ...changes, action, issue, comment: about }, sender);
    },
    check(repository, check, action, sender, fields = {}) {
      const payload = example('check_run', action, repository);
      const like = shapeAt(payload, 'check_run');
      const app = {
        ...shapeAt(like, 'app'),
        ...appDates(appShape(world)),
        id: check.app.id,
        slug: check.app.slug,
      };
      const about = {
        ...like,
        id: check.id,
        node_id: `CR_${check.id}`,
        name: check.name,
        head_sha: check.headSha,
        external_id: check.externalId,
        details_url: check.detailsUrl ?? `${world.origin}/`,
        status: check.status,
        conclusion: check.conclusion,
        started_at: check.startedAt,
        completed_at: check.completedAt,
        app,
        check_suite: { ...shapeAt(like, 'check_suite'), id: check.suite, head_sha: check.headSha, app },
        pull_requests: [],
      };
      send(repository, 'check_run', { ...payload, ...fields, action, check_run: about }, sender);
    },
    suite(repository, sha, action, sender) {
      const payload = example('check_suite', action, repository);
      const like = shapeAt(payload, 'check_suite');
      const app = {
        ...shapeAt(like, 'app'),
        ...appDates(appShape(world)),
        id: world.app.id,
        slug: world.app.slug,
      };
      const about = { ...like, id: idOf(`${sha} ${world.app.id}`), head_sha: sha, app, pull_requests: [] };
      send(repository, 'check_suite', { ...payload, action, check_suite: about }, sender);
    },
    async thread(repository, pull, id, action, sender) {
      const payload = example('pull_request_review_thread', action, repository);
      const like = shapeAt(payload, 'pull_request');
      const part = await pullPart(repository, pull, like);
      const names = Object.keys(
        webhookExamples().example('pull_request_review_thread', action).pull_request ?? {},
      );
      const about = {
        ...Object.fromEntries(names.map(name => [name, part[name] ?? like[name]])),
        head: part.head,
        base: part.base,
      };
      const thread = { ...shapeAt(payload, 'thread'), node_id: id };
      send(
        repository,
        'pull_request_review_thread',
        { ...payload, action, pull_request: about, thread },
        sender,
      );
    },
    installation(event, action, installation, fields) {
      const payload = example(event, action);
      const about = {
        ...shapeAt(payload, 'installation'),
        id: installation.id,
        account: accountShape(world, installation.account),
        app_id: world.app.id,
        app_slug: world.app.slug,
      };
      const sender = accountShape(world, installation.account);
      deliveries.send(
        event,
        { ...payload, ...fields, action, installation: about, sender },
        { installationId: installation.id },
      );
    },
  };
}

function appDates({ created_at, updated_at, name }: Shape): Shape {
  return { created_at, updated_at, name };
}

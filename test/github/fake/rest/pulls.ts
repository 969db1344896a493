/** Pull requests: looked at, edited, reviewed. */
import { git, tryGit } from '../bare-git.ts';
import { changedFiles, pullShape } from '../pull-shape.ts';
import { notFound, RequestRefused } from '../refused.ts';
import { type Shape, shapeAt, textAt } from '../shape.ts';
import { exampleOf, userShape } from '../shapes.ts';
import {
  changePull,
  fullName,
  type Pull,
  pullAsRead,
  type Repository,
  type Review,
  timestamp,
} from '../world.ts';
import { type Call, type Handlers, paged, pullOf, type Reply, repositoryOf } from './call.ts';

export const pullHandlers: Handlers = {
  'pulls/list': call => {
    const { query, world } = call;
    const repository = repositoryOf(call);
    const state = query.state ?? 'open';
    const wanted = (each: Pull) => {
      const seen = pullAsRead(world, each);
      const head = `${each.headRepository?.owner}:${each.headRef}`;
      return (
        (state === 'all' || seen.state === state) &&
        (query.base ?? seen.base) === seen.base &&
        (query.head ?? head) === head
      );
    };
    const all = [...repository.pulls.values()].filter(wanted);
    if (query.sort === 'updated') all.sort((a, b) => (a.now.updatedAt < b.now.updatedAt ? -1 : 1));
    if (
      (query.direction ?? (query.sort === undefined || query.sort === 'created' ? 'desc' : 'asc')) === 'desc'
    )
      all.reverse();
    return paged(call, all, each => pullShape(world, repository, each, 'simple'));
  },
  'pulls/get': async call => {
    const { repository, pull } = pullOf(call);
    return { status: 200, body: await pullShape(call.world, repository, pull, 'full') };
  },
  'pulls/update': edit,
  'pulls/list-files': async call => {
    const { world } = call;
    const { repository, pull } = pullOf(call);
    const name = fullName(repository);
    return paged(call, await changedFiles(repository, pull), ({ path, status, additions, deletions }) => ({
      sha: '0'.repeat(40),
      filename: path,
      status,
      additions,
      deletions,
      changes: additions + deletions,
      blob_url: `${world.origin}/${name}/blob/${pull.now.head}/${encodeURI(path)}`,
      raw_url: `${world.origin}/${name}/raw/${pull.now.head}/${encodeURI(path)}`,
      contents_url: `${world.api}/repos/${name}/contents/${encodeURI(path)}?ref=${pull.now.head}`,
    }));
  },
  'pulls/list-commits': async call => {
    const { repository, pull } = pullOf(call);
    const list = await git(
      repository.dir,
      'rev-list',
      '--reverse',
      `refs/heads/${pull.now.base}..${pull.now.head}`,
    );
    const example = shapeAt(exampleOf(call.world, 'pulls/list-commits', 200, repository), 0);
    return paged(call, list.split('\n').filter(Boolean), async sha => ({
      ...example,
      sha,
      commit: {
        ...shapeAt(example, 'commit'),
        message: await git(repository.dir, 'log', '-1', '--format=%B', sha),
      },
    }));
  },
  'pulls/check-if-merged': call => ({ status: pullOf(call).pull.now.merged ? 204 : 404 }),
  'pulls/list-reviews': call => {
    const { repository, pull } = pullOf(call);
    return paged(call, pullAsRead(call.world, pull).reviews, each =>
      reviewShape(call, repository, pull, each),
    );
  },
  'pulls/create-review': async call => {
    const { world, body, actor, events } = call;
    const { repository, pull } = pullOf(call);
    const event = textAt(body, 'event');
    const state = (
      { APPROVE: 'APPROVED', REQUEST_CHANGES: 'CHANGES_REQUESTED', COMMENT: 'COMMENTED' } as const
    )[event ?? ''];
    if (state === undefined)
      throw new RequestRefused(422, 'Unprocessable Entity', {
        errors: ['Pending reviews are not made by this fake'],
      });
    if (actor.login === pull.user && state !== 'COMMENTED')
      throw new RequestRefused(422, 'Unprocessable Entity', {
        errors: [`Can not ${state === 'APPROVED' ? 'approve' : 'request changes on'} your own pull request`],
      });
    const text = textAt(body, 'body') ?? '';
    if (text === '' && state !== 'APPROVED')
      throw new RequestRefused(422, 'Unprocessable Entity', { errors: ['Review Can not be blank'] });
    const review: Review = {
      id: world.nextId(),
      user: actor.login,
      state,
      body: text,
      commit: textAt(body, 'commit_id') ?? pull.now.head,
      at: timestamp(world),
    };
    changePull(world, pull, { reviews: [...pull.now.reviews, review] });
    await events.review(repository, pull, review, 'submitted', actor.login);
    return { status: 200, body: reviewShape(call, repository, pull, review) };
  },
  'pulls/dismiss-review': async call => {
    const { world, actor, events, path } = call;
    const { repository, pull } = pullOf(call);
    const review = pull.now.reviews.find(each => each.id === Number(path.review_id));
    if (review === undefined) throw notFound();
    const dismissed: Review = { ...review, state: 'DISMISSED' };
    changePull(world, pull, { reviews: pull.now.reviews.map(each => (each === review ? dismissed : each)) });
    await events.review(repository, pull, dismissed, 'dismissed', actor.login);
    return { status: 200, body: reviewShape(call, repository, pull, dismissed) };
  },
  'repos/list-pull-requests-associated-with-commit': async call => {
    const repository = repositoryOf(call);
    const sha = (await tryGit(repository.dir, 'rev-parse', `${call.path.commit_sha}^{commit}`)) ?? '';
    const all = [...repository.pulls.values()].filter(
      ({ now }) => now.head === sha || now.mergeCommit === sha,
    );
    return paged(call, all, each => pullShape(call.world, repository, each, 'simple'));
  },
};

async function edit(call: Call): Promise<Reply> {
  const { world, body, actor, events } = call;
  const { repository, pull } = pullOf(call);
  const { title, body: text, base, state } = pull.now;
  const changes: Shape = {};
  if (body.title !== undefined && body.title !== title) changes.title = { from: title };
  if (body.body !== undefined && body.body !== text) changes.body = { from: text ?? '' };
  if (body.base !== undefined && body.base !== base) {
    const sha = await git(repository.dir, 'rev-parse', `refs/heads/${base}`);
    if ((await tryGit(repository.dir, 'rev-parse', '--verify', `refs/heads/${body.base}`)) === undefined)
      throw new RequestRefused(422, 'Validation Failed', {
        errors: [{ resource: 'PullRequest', field: 'base', code: 'invalid' }],
      });
    changes.base = { ref: { from: base }, sha: { from: sha } };
  }
  const fields = Object.fromEntries(
    ['title', 'body', 'base'].filter(each => changes[each] !== undefined).map(each => [each, body[each]]),
  );
  if (Object.keys(changes).length > 0) {
    changePull(world, pull, fields);
    await events.pull(repository, pull, 'edited', actor.login, { changes });
  }
  if (body.state === 'closed' && state === 'open') {
    changePull(world, pull, { state: 'closed', closedAt: timestamp(world) });
    await events.pull(repository, pull, 'closed', actor.login);
  } else if (body.state === 'open' && state === 'closed') {
    if (pull.now.merged)
      throw new RequestRefused(422, 'Validation Failed', {
        errors: [{ resource: 'PullRequest', field: 'state', code: 'invalid' }],
      });
    changePull(world, pull, { state: 'open', closedAt: null });
    await events.pull(repository, pull, 'reopened', actor.login);
  }
  return { status: 200, body: await pullShape(world, repository, pull, 'full') };
}

function reviewShape({ world }: Call, repository: Repository, pull: Pull, review: Review): Shape {
  const page = `${world.origin}/${fullName(repository)}/pull/${pull.number}`;
  const api = `${world.api}/repos/${fullName(repository)}/pulls/${pull.number}`;
  return {
    ...shapeAt(exampleOf(world, 'pulls/list-reviews', 200, repository), 0),
    id: review.id,
    node_id: `PRR_${review.id}`,
    user: userShape(world, review.user),
    body: review.body,
    state: review.state,
    submitted_at: review.at,
    commit_id: review.commit,
    html_url: `${page}#pullrequestreview-${review.id}`,
    pull_request_url: api,
  };
}

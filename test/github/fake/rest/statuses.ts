/** Commit statuses. */
import { tryGit } from '../bare-git.ts';
import { statusesOf } from '../contexts.ts';
import { RequestRefused } from '../refused.ts';
import { type Shape, shapeAt, textAt } from '../shape.ts';
import { exampleOf, repositoryShape, userShape } from '../shapes.ts';
import { type CommitStatus, fullName, type Repository, timestamp, type World } from '../world.ts';
import { type Call, type Handlers, paged, type Reply, repositoryOf } from './call.ts';

export const statusHandlers: Handlers = {
  'repos/create-commit-status': create,
  'repos/list-commit-statuses-for-ref': async call => {
    const repository = repositoryOf(call);
    const sha = await tryGit(repository.dir, 'rev-parse', `${call.path.ref}^{commit}`);
    const all = repository.statuses.filter(each => each.sha === sha).toReversed();
    return paged(call, all, each => statusShape(call.world, repository, each));
  },
  'repos/get-combined-status-for-ref': async call => {
    const { world, path } = call;
    const repository = repositoryOf(call);
    const sha = (await tryGit(repository.dir, 'rev-parse', `${path.ref}^{commit}`)) ?? '';
    const all = statusesOf(repository, sha);
    const states = all.map(({ state }) => state);
    const bad = states.some(each => each === 'failure' || each === 'error');
    const state = bad ? 'failure' : states.length === 0 || states.includes('pending') ? 'pending' : 'success';
    const example = shapeAt(exampleOf(world, 'repos/get-combined-status-for-ref', 200, repository));
    const about = repositoryShape(world, repository, shapeAt(example, 'repository'));
    return paged(
      call,
      all,
      each => simpleShape(world, repository, each),
      statuses => ({
        ...example,
        state,
        sha,
        total_count: all.length,
        statuses,
        repository: about,
      }),
    );
  },
};

async function create(call: Call): Promise<Reply> {
  const { world, path, body, actor, events } = call;
  const repository = repositoryOf(call);
  const sha = path.sha ?? '';
  if ((await tryGit(repository.dir, 'cat-file', '-e', `${sha}^{commit}`)) === undefined)
    throw new RequestRefused(422, `No commit found for SHA: ${sha}`);
  const description = textAt(body, 'description') ?? null;
  if ((description?.length ?? 0) > 140)
    throw new RequestRefused(422, 'Validation Failed', {
      errors: [
        {
          resource: 'Status',
          code: 'custom',
          field: 'description',
          message: 'description is too long (maximum is 140 characters)',
        },
      ],
    });
  const status: CommitStatus = {
    id: world.nextId(),
    sha,
    context: textAt(body, 'context') ?? 'default',
    state: String(body.state),
    creator: actor.login,
    description,
    targetUrl: textAt(body, 'target_url') ?? null,
    at: timestamp(world),
  };
  repository.statuses.push(status);
  const { id, context, state, targetUrl, at } = status;
  const facts = {
    id,
    sha,
    name: fullName(repository),
    context,
    state,
    description,
    target_url: targetUrl,
    created_at: at,
    updated_at: at,
    branches: [],
  };
  events.send(repository, 'status', undefined, actor.login, facts);
  return { status: 201, body: statusShape(world, repository, status) };
}

function statusShape(world: World, repository: Repository, status: CommitStatus): Shape {
  const { creator } = status;
  const example = shapeAt(exampleOf(world, 'repos/create-commit-status', 201, repository));
  return { ...example, ...facts(status), creator: userShape(world, creator) };
}

function simpleShape(world: World, repository: Repository, status: CommitStatus): Shape {
  const example = shapeAt(
    exampleOf(world, 'repos/get-combined-status-for-ref', 200, repository),
    'statuses',
    0,
  );
  return { ...example, ...facts(status) };
}

function facts({ id, state, context, description, targetUrl, at }: CommitStatus): Shape {
  return { id, state, context, description, target_url: targetUrl, created_at: at, updated_at: at };
}

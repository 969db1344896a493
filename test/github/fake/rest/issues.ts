/** Comments, reactions and labels of pull requests. */
import { notFound, RequestRefused } from '../refused.ts';
import { isShape, type Shape, shapeAt, textAt, textsOf } from '../shape.ts';
import { exampleOf, labelShape, userShape } from '../shapes.ts';
import {
  type Comment,
  changePull,
  fullName,
  mayWrite,
  type Pull,
  type Repository,
  timestamp,
} from '../world.ts';
import { type Call, type Handlers, paged, pullOf, type Reply, repositoryOf } from './call.ts';

export const issueHandlers: Handlers = {
  'issues/create-comment': async call => {
    const { world, body, actor, events } = call;
    const { repository, pull } = pullOf(call);
    const at = timestamp(world);
    const comment: Comment = {
      id: world.nextId(),
      user: actor.login,
      body: checked(body),
      at,
      updatedAt: at,
      reactions: [],
    };
    pull.comments.push(comment);
    await events.comment(repository, pull, comment, 'created', actor.login);
    return { status: 201, body: commentShape(call, repository, pull, comment) };
  },
  'issues/update-comment': async call => {
    const { world, body, actor, events } = call;
    const { repository, pull, comment } = commentOf(call);
    if (comment.user !== actor.login && !mayWrite(repository, actor.login))
      throw new RequestRefused(403, 'Forbidden');
    const before = comment.body;
    Object.assign(comment, { body: checked(body), updatedAt: timestamp(world) });
    await events.comment(repository, pull, comment, 'edited', actor.login, before);
    return { status: 200, body: commentShape(call, repository, pull, comment) };
  },
  'issues/get-comment': call => {
    const { repository, pull, comment } = commentOf(call);
    return { status: 200, body: commentShape(call, repository, pull, comment) };
  },
  'issues/delete-comment': async call => {
    const { repository, pull, comment } = commentOf(call);
    pull.comments.splice(pull.comments.indexOf(comment), 1);
    await call.events.comment(repository, pull, comment, 'deleted', call.actor.login);
    return { status: 204 };
  },
  'issues/list-comments': call => {
    const { repository, pull } = pullOf(call);
    return paged(call, pull.comments, each => commentShape(call, repository, pull, each));
  },
  'reactions/create-for-issue-comment': call => {
    const { world, body, actor } = call;
    const { comment } = commentOf(call);
    const content = String(body.content);
    const found = comment.reactions.find(each => each.user === actor.login && each.content === content);
    const reaction = found ?? { id: world.nextId(), user: actor.login, content };
    if (found === undefined) comment.reactions.push(reaction);
    return { status: found === undefined ? 201 : 200, body: reactionShape(call, reaction) };
  },
  'reactions/list-for-issue-comment': call =>
    paged(call, commentOf(call).comment.reactions, each => reactionShape(call, each)),
  'issues/list-labels-on-issue': call => {
    const { repository, pull } = pullOf(call);
    return paged(call, pull.now.labels, each => labelShape(call.world, repository, each));
  },
  'issues/add-labels': async call => {
    const { body, actor } = call;
    const { pull } = pullOf(call);
    const fresh = textsOf(Array.isArray(body) ? body : body.labels).filter(
      each => !pull.now.labels.includes(each),
    );
    return relabel(call, [...pull.now.labels, ...fresh], fresh, 'labeled', actor.login);
  },
  'issues/remove-label': async call => {
    const name = call.path.name ?? '';
    const { pull } = pullOf(call);
    if (!pull.now.labels.includes(name)) throw new RequestRefused(404, 'Label does not exist');
    return relabel(
      call,
      pull.now.labels.filter(each => each !== name),
      [name],
      'unlabeled',
      call.actor.login,
    );
  },
};

async function relabel(
  call: Call,
  labels: readonly string[],
  changed: readonly string[],
  action: string,
  by: string,
): Promise<Reply> {
  const { world, events } = call;
  const { repository, pull } = pullOf(call);
  if (changed.length > 0) changePull(world, pull, { labels });
  for (const name of changed)
    await events.pull(repository, pull, action, by, { label: labelShape(world, repository, name) });
  return { status: 200, body: labels.map(name => labelShape(world, repository, name)) };
}

const MOST_CHARACTERS = 65_536;

function checked(body: Shape): string {
  const text = textAt(body, 'body') ?? '';
  const error = (message: string) => ({
    errors: [{ resource: 'IssueComment', code: 'unprocessable', field: 'data', message }],
  });
  if (text.length > MOST_CHARACTERS)
    throw new RequestRefused(
      422,
      'Validation Failed',
      error(`Body is too long (maximum is ${MOST_CHARACTERS} characters)`),
    );
  if (text.trim() === '') throw new RequestRefused(422, 'Validation Failed', error('Body cannot be blank'));
  return text;
}

function commentOf(call: Call): { repository: Repository; pull: Pull; comment: Comment } {
  const repository = repositoryOf(call);
  for (const pull of repository.pulls.values()) {
    const comment = pull.comments.find(each => each.id === Number(call.path.comment_id));
    if (comment !== undefined) return { repository, pull, comment };
  }
  throw notFound();
}

function commentShape({ world }: Call, repository: Repository, pull: Pull, comment: Comment): Shape {
  const api = `${world.api}/repos/${fullName(repository)}`;
  const { performed_via_github_app: _, ...example } = shapeAt(
    exampleOf(world, 'issues/create-comment', 201, repository),
  );
  return {
    ...example,
    id: comment.id,
    node_id: `IC_${comment.id}`,
    url: `${api}/issues/comments/${comment.id}`,
    html_url: `${world.origin}/${fullName(repository)}/pull/${pull.number}#issuecomment-${comment.id}`,
    issue_url: `${api}/issues/${pull.number}`,
    body: comment.body,
    user: userShape(world, comment.user),
    created_at: comment.at,
    updated_at: comment.updatedAt,
  };
}

function reactionShape(
  { world }: Call,
  { id, user, content }: { id: number; user: string; content: string },
): Shape {
  const example = exampleOf(world, 'reactions/create-for-issue-comment', 201);
  return { ...(isShape(example) ? example : {}), id, content, user: userShape(world, user) };
}

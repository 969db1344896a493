/** `PUT …/merge`: GitHub's refusals in their order, and its three ways. */
import { allows } from '../authority.ts';
import { git, mergeInto, refsOf } from '../bare-git.ts';
import { obstacle } from '../contexts.ts';
import { changedFiles } from '../pull-shape.ts';
import { noticeRefs } from '../refs-moved.ts';
import { RequestRefused } from '../refused.ts';
import { textAt } from '../shape.ts';
import { changePull, type Pull, type Repository, timestamp } from '../world.ts';
import { type Call, type Handlers, pullOf, type Reply } from './call.ts';

export const mergeHandlers: Handlers = { 'pulls/merge': merge };

async function merge(call: Call): Promise<Reply> {
  const { world, body, actor, events } = call;
  const { repository, pull } = pullOf(call);
  const method = textAt(body, 'merge_method') ?? 'merge';
  await check(call, repository, pull, method);
  const before = await refsOf(repository.dir);
  const base = before.get(`refs/heads/${pull.now.base}`);
  if (base === undefined) throw new RequestRefused(405, 'Pull Request is not mergeable');
  const head = pull.now.head;
  const tip = await mergeInto(repository.dir, {
    base,
    head,
    method,
    message: messageOf(call, repository, pull, method),
  });
  if (tip === undefined) throw new RequestRefused(405, 'Pull Request is not mergeable');
  const moved = await git(repository.dir, 'update-ref', `refs/heads/${pull.now.base}`, tip, base).catch(
    () => undefined,
  );
  if (moved === undefined)
    throw new RequestRefused(405, 'Base branch was modified. Review and try the merge again.');
  const at = timestamp(world);
  changePull(world, pull, {
    state: 'closed',
    merged: true,
    mergedAt: at,
    closedAt: at,
    mergedBy: actor.login,
    mergeCommit: tip,
  });
  await noticeRefs(world, events, repository, before, actor.login);
  await events.pull(repository, pull, 'closed', actor.login);
  return { status: 200, body: { sha: tip, merged: true, message: 'Pull Request successfully merged' } };
}

const METHOD_NAMES: Record<string, string> = {
  merge: 'Merge commits',
  squash: 'Squash merges',
  rebase: 'Rebase merges',
};

async function check(
  { actor, body }: Call,
  repository: Repository,
  pull: Pull,
  method: string,
): Promise<void> {
  if (repository.archived) throw new RequestRefused(403, 'Repository was archived so is read-only.');
  if (pull.now.state !== 'open') throw new RequestRefused(405, 'Pull Request is not mergeable');
  if (body.sha !== undefined && body.sha !== pull.now.head)
    throw new RequestRefused(409, 'Head branch was modified. Review and try the merge again.');
  if (!repository.methods[method as 'merge'])
    throw new RequestRefused(405, `${METHOD_NAMES[method]} are not allowed on this repository.`);
  const workflow = (await changedFiles(repository, pull)).find(({ path }) =>
    path.startsWith('.github/workflows/'),
  );
  if (workflow !== undefined && actor.kind === 'installation' && !allows(actor, 'workflows', 'write'))
    throw new RequestRefused(
      403,
      `refusing to allow a GitHub App to create or update workflow \`${workflow.path}\` without \`workflows\` permission`,
    );
  const wrong = await obstacle(repository, pull, method, actor.login);
  if (wrong !== undefined) throw new RequestRefused(405, wrong);
}

function messageOf({ body }: Call, repository: Repository, pull: Pull, method: string): string {
  const { title } = pull.now;
  const subject =
    method === 'merge'
      ? `Merge pull request #${pull.number} from ${pull.headRepository?.owner ?? repository.owner}/${pull.headRef}`
      : `${title} (#${pull.number})`;
  const text = textAt(body, 'commit_message') ?? (method === 'merge' ? title : '');
  return `${textAt(body, 'commit_title') ?? subject}\n\n${text}`.trimEnd();
}

/** What GitHub does after refs moved: push events, new heads of pull requests, pull requests that became merged. */
import { git, isAncestor, refsOf } from './bare-git.ts';
import type { Events } from './events.ts';
import { changePull, fullName, type Pull, type Repository, timestamp, type World } from './world.ts';

const ZERO = '0'.repeat(40);

/** @param before refs as they were; @param user who moved them */
export async function noticeRefs(
  world: World,
  events: Events,
  repository: Repository,
  before: ReadonlyMap<string, string>,
  user: string,
): Promise<void> {
  const after = await refsOf(repository.dir);
  for (const ref of new Set([...before.keys(), ...after.keys()])) {
    const [old, fresh] = [before.get(ref), after.get(ref)];
    if (old === fresh || !/^refs\/(heads|tags)\//.test(ref)) continue;
    await pushEvent(world, events, repository, { ref, old, fresh, user });
    if (!ref.startsWith('refs/heads/')) continue;
    const branch = ref.slice('refs/heads/'.length);
    if (fresh === undefined) continue;
    await newHeads(world, events, repository, branch, fresh, user);
    await mergedByPush(world, events, repository, branch, fresh, user);
  }
}

async function pushEvent(
  world: World,
  events: Events,
  repository: Repository,
  {
    ref,
    old,
    fresh,
    user,
  }: { ref: string; old: string | undefined; fresh: string | undefined; user: string },
): Promise<void> {
  const forced = old !== undefined && fresh !== undefined && !(await isAncestor(repository.dir, old, fresh));
  const compare = `${world.origin}/${fullName(repository)}/compare/${old ?? ZERO}...${fresh ?? ZERO}`;
  const pusher = { name: user, email: `${user}@example.org` };
  const facts = {
    ref,
    before: old ?? ZERO,
    after: fresh ?? ZERO,
    created: old === undefined,
    deleted: fresh === undefined,
    forced,
    compare,
  };
  const empty = { base_ref: null, commits: [], head_commit: null };
  events.send(repository, 'push', undefined, user, { ...facts, ...empty, pusher });
  if (old !== undefined && fresh !== undefined) return;
  const kind = ref.startsWith('refs/tags/') ? 'tag' : 'branch';
  const about = { ref: ref.replace(/^refs\/(heads|tags)\//, ''), ref_type: kind, pusher_type: 'user' };
  if (fresh === undefined) events.send(repository, 'delete', undefined, user, about);
  else
    events.send(repository, 'create', undefined, user, {
      ...about,
      master_branch: repository.defaultBranch,
      description: null,
    });
}

async function newHeads(
  world: World,
  events: Events,
  repository: Repository,
  branch: string,
  fresh: string,
  user: string,
): Promise<void> {
  for (const { target, pull } of allPulls(world)) {
    if (pull.headRepository !== repository || pull.headRef !== branch || pull.now.state !== 'open') continue;
    const previous = pull.now.head;
    if (previous === fresh) continue;
    await publishHead(target, pull, repository, fresh);
    changePull(world, pull, { head: fresh });
    await events.pull(target, pull, 'synchronize', user, { before: previous, after: fresh });
  }
}

/** Brings the commits of a fork to the repository of the pull request, as `refs/pull/<n>/head`. */
export async function publishHead(
  target: Repository,
  pull: Pull,
  from: Repository,
  commit: string,
): Promise<void> {
  const ref = `refs/pull/${pull.number}/head`;
  if (from === target) await git(target.dir, 'update-ref', ref, commit);
  else await git(target.dir, 'fetch', '-q', from.dir, `+${commit}:${ref}`);
}

async function mergedByPush(
  world: World,
  events: Events,
  repository: Repository,
  branch: string,
  tip: string,
  user: string,
): Promise<void> {
  for (const pull of repository.pulls.values()) {
    if (pull.now.state !== 'open' || pull.now.base !== branch) continue;
    if (!(await isAncestor(repository.dir, pull.now.head, tip))) continue;
    const at = timestamp(world);
    changePull(world, pull, {
      state: 'closed',
      merged: true,
      mergedAt: at,
      closedAt: at,
      mergedBy: user,
      mergeCommit: tip,
    });
    await events.pull(repository, pull, 'closed', user);
  }
}

function allPulls(world: World): readonly { target: Repository; pull: Pull }[] {
  return [...world.repositories.values()].flatMap(target =>
    [...target.pulls.values()].map(pull => ({ target, pull })),
  );
}

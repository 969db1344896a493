/** Refs and commits through the API. */
import { git, isAncestor, refsOf, tryGit } from '../bare-git.ts';
import { rulesOf } from '../contexts.ts';
import { noticeRefs } from '../refs-moved.ts';
import { notFound, RequestRefused } from '../refused.ts';
import { type Shape, shapeAt } from '../shape.ts';
import { exampleOf } from '../shapes.ts';
import { fullName, type Repository, type World } from '../world.ts';
import { type Call, type Handlers, paged, type Reply, repositoryOf } from './call.ts';

export const gitDataHandlers: Handlers = {
  'git/get-ref': call => refReply(call, `refs/${call.path.ref}`),
  'git/create-ref': async call => {
    const { body } = call;
    const repository = repositoryOf(call);
    const ref = String(body.ref);
    const before = await refsOf(repository.dir);
    if (before.has(ref)) throw new RequestRefused(422, 'Reference already exists');
    return move(call, repository, before, ref, String(body.sha), 201);
  },
  'git/update-ref': async call => {
    const { body, path, actor } = call;
    const repository = repositoryOf(call);
    const ref = `refs/${path.ref}`;
    const before = await refsOf(repository.dir);
    const old = before.get(ref);
    if (old === undefined) throw new RequestRefused(422, 'Reference does not exist');
    refuseProtected(repository, ref, actor.login);
    if (body.force !== true && !(await isAncestor(repository.dir, old, String(body.sha))))
      throw new RequestRefused(422, 'Update is not a fast forward');
    return move(call, repository, before, ref, String(body.sha), 200);
  },
  'git/delete-ref': async call => {
    const repository = repositoryOf(call);
    const ref = `refs/${call.path.ref}`;
    const before = await refsOf(repository.dir);
    if (!before.has(ref)) throw new RequestRefused(422, 'Reference does not exist');
    refuseProtected(repository, ref, call.actor.login);
    await git(repository.dir, 'update-ref', '-d', ref);
    await noticeRefs(call.world, call.events, repository, before, call.actor.login);
    return { status: 204 };
  },
  'git/get-commit': async call => {
    const repository = repositoryOf(call);
    const found = await commitFacts(repository, call.path.commit_sha ?? '');
    if (found === undefined) throw notFound();
    const example = shapeAt(exampleOf(call.world, 'git/get-commit', 200, repository));
    const url = `${call.world.api}/repos/${fullName(repository)}/git`;
    const { sha, tree, parents, message } = found;
    return {
      status: 200,
      body: {
        ...example,
        sha,
        message,
        tree: { sha: tree, url: `${url}/trees/${tree}` },
        parents: parents.map(each => parentShape(url, each)),
      },
    };
  },
  'repos/get-commit': async call => {
    const repository = repositoryOf(call);
    const found = await commitFacts(repository, call.path.ref ?? '');
    if (found === undefined) throw new RequestRefused(422, `No commit found for SHA: ${call.path.ref}`);
    return { status: 200, body: commitShape(call.world, repository, found) };
  },
  'repos/list-commits': async call => {
    const repository = repositoryOf(call);
    const from = call.query.sha ?? repository.defaultBranch;
    const list = (await tryGit(repository.dir, 'rev-list', '--max-count=1000', from)) ?? '';
    return paged(call, list.split('\n').filter(Boolean), async sha => {
      const found = await commitFacts(repository, sha);
      return found === undefined ? undefined : commitShape(call.world, repository, found);
    });
  },
  'repos/compare-commits': compare,
};

interface CommitFacts {
  readonly sha: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
}

async function commitFacts({ dir }: Repository, name: string): Promise<CommitFacts | undefined> {
  const text = await tryGit(dir, 'log', '-1', '--format=%H%n%T%n%P%n%B', name, '--');
  if (text === undefined) return undefined;
  const [sha = '', tree = '', parents = '', ...message] = text.split('\n');
  return { sha, tree, parents: parents.split(' ').filter(Boolean), message: message.join('\n').trimEnd() };
}

export function commitShape(
  world: World,
  repository: Repository,
  { sha, tree, parents, message }: CommitFacts,
): Shape {
  const { files: _, ...example } = shapeAt(exampleOf(world, 'repos/get-commit', 200, repository));
  const url = `${world.api}/repos/${fullName(repository)}`;
  const commit = {
    ...shapeAt(example, 'commit'),
    message,
    tree: { sha: tree, url: `${url}/git/trees/${tree}` },
  };
  return {
    ...example,
    sha,
    url: `${url}/commits/${sha}`,
    commit,
    parents: parents.map(each => parentShape(url, each)),
  };
}

function parentShape(url: string, sha: string): Shape {
  return { sha, url: `${url}/commits/${sha}`, html_url: `${url}/commits/${sha}` };
}

async function refReply(call: Call, ref: string, status = 200): Promise<Reply> {
  const repository = repositoryOf(call);
  const sha = (await refsOf(repository.dir)).get(ref);
  if (sha === undefined) throw notFound();
  const url = `${call.world.api}/repos/${fullName(repository)}/git`;
  const type = await git(repository.dir, 'cat-file', '-t', sha);
  return {
    status,
    body: {
      ref,
      node_id: `REF_${repository.id}`,
      url: `${url}/${ref}`,
      object: { type, sha, url: `${url}/${type}s/${sha}` },
    },
  };
}

async function move(
  call: Call,
  repository: Repository,
  before: ReadonlyMap<string, string>,
  ref: string,
  sha: string,
  status: number,
): Promise<Reply> {
  if ((await tryGit(repository.dir, 'cat-file', '-e', sha)) === undefined)
    throw new RequestRefused(422, 'Object does not exist');
  await git(repository.dir, 'update-ref', ref, sha);
  await noticeRefs(call.world, call.events, repository, before, call.actor.login);
  return refReply(call, ref, status);
}

function refuseProtected(repository: Repository, ref: string, login: string): void {
  const branch = ref.replace(/^refs\/heads\//, '');
  const refusing = rulesOf(repository, branch).some(
    each =>
      !each.bypass.includes(login) &&
      (each.pushers === null ? each.checks.length + each.approvals > 0 : !each.pushers.includes(login)),
  );
  if (refusing) throw new RequestRefused(422, `Protected branch update failed for ${ref}.`);
}

async function compare(call: Call): Promise<Reply> {
  const { world, path } = call;
  const repository = repositoryOf(call);
  const range = [path.base ?? '', path.head ?? ''];
  const [base, head] = await Promise.all(range.map(each => commitFacts(repository, each)));
  const mergeBase = base && head ? await tryGit(repository.dir, 'merge-base', base.sha, head.sha) : undefined;
  const common = mergeBase === undefined ? undefined : await commitFacts(repository, mergeBase);
  if (base === undefined || head === undefined || common === undefined) throw notFound();
  const count = async (from: string, to: string) =>
    Number(await git(repository.dir, 'rev-list', '--count', `${from}..${to}`));
  const [ahead, behind] = [await count(base.sha, head.sha), await count(head.sha, base.sha)];
  const example = shapeAt(exampleOf(world, 'repos/compare-commits', 200, repository));
  const status =
    ahead > 0 && behind > 0 ? 'diverged' : ahead > 0 ? 'ahead' : behind > 0 ? 'behind' : 'identical';
  const shapes = {
    base_commit: commitShape(world, repository, base),
    merge_base_commit: commitShape(world, repository, common),
  };
  return {
    status: 200,
    body: {
      ...example,
      ...shapes,
      status,
      ahead_by: ahead,
      behind_by: behind,
      total_commits: ahead,
      commits: [],
      files: [],
    },
  };
}

/** GitHub's JSON of a pull request, and what it computes about one. */
import { mergesCleanly, tipOf, tryGit } from './bare-git.ts';
import { type Shape, shapeAt } from './shape.ts';
import { accountShape, exampleOf, labelShape, repositoryShape, userShape } from './shapes.ts';
import { fullName, type Pull, pullAsRead, type Repository, type World } from './world.ts';

export interface ChangedFile {
  readonly status: string;
  readonly path: string;
  readonly additions: number;
  readonly deletions: number;
}

/** @param kind `simple` as in lists, `full` with what GitHub computes */
export async function pullShape(
  world: World,
  repository: Repository,
  pull: Pull,
  kind: 'full' | 'simple',
): Promise<Shape> {
  const example =
    kind === 'full'
      ? shapeAt(exampleOf(world, 'pulls/get', 200, repository))
      : shapeAt(exampleOf(world, 'pulls/list', 200, repository), 0);
  const shape = {
    ...example,
    ...(await factsOf(world, repository, pull)),
    head: headOf(world, pull, example),
  };
  const base = { ...shapeAt(example, 'base'), ...(await baseOf(world, repository, pull, example)) };
  if (kind === 'simple') return { ...shape, base };
  const files = await changedFiles(repository, pull);
  return {
    ...shape,
    base,
    merged: pull.now.merged,
    mergeable: await mergeable(world, repository, pull),
    rebaseable: null,
    mergeable_state: 'unknown',
    merged_by: userShape(world, pull.now.mergedBy),
    comments: pull.comments.length,
    review_comments: 0,
    maintainer_can_modify: false,
    commits: 1,
    additions: 0,
    deletions: 0,
    changed_files: files.length,
  };
}

async function factsOf(world: World, repository: Repository, pull: Pull): Promise<Shape> {
  const state = pullAsRead(world, pull);
  const api = `${world.api}/repos/${fullName(repository)}`;
  return {
    url: `${api}/pulls/${pull.number}`,
    issue_url: `${api}/issues/${pull.number}`,
    id: pull.id,
    node_id: `PR_${pull.id}`,
    html_url: `${world.origin}/${fullName(repository)}/pull/${pull.number}`,
    number: pull.number,
    state: state.state,
    locked: false,
    title: state.title,
    user: userShape(world, pull.user),
    body: state.body,
    labels: state.labels.map(name => labelShape(world, repository, name)),
    milestone: null,
    active_lock_reason: null,
    created_at: pull.createdAt,
    updated_at: state.updatedAt,
    closed_at: state.closedAt,
    merged_at: state.mergedAt,
    merge_commit_sha: state.mergeCommit,
    assignee: null,
    assignees: [],
    requested_reviewers: [],
    requested_teams: [],
    author_association: 'MEMBER',
    auto_merge: null,
    draft: state.draft,
  };
}

function headOf(world: World, pull: Pull, example: Shape): Shape {
  const from = pull.headRepository;
  const owner = from?.owner ?? 'unknown';
  return {
    ...shapeAt(example, 'head'),
    label: `${owner}:${pull.headRef}`,
    ref: pull.headRef,
    sha: pullAsRead(world, pull).head,
    user: from === null ? null : accountShape(world, owner),
    repo: from === null ? null : repositoryShape(world, from, shapeAt(example, 'head', 'repo')),
  };
}

async function baseOf(world: World, repository: Repository, pull: Pull, example: Shape): Promise<Shape> {
  const ref = pullAsRead(world, pull).base;
  return {
    label: `${repository.owner}:${ref}`,
    ref,
    sha: (await tipOf(repository.dir, ref)) ?? '0'.repeat(40),
    user: accountShape(world, repository.owner),
    repo: repositoryShape(world, repository, shapeAt(example, 'base', 'repo')),
  };
}

/** Null: not computed yet. */
export async function mergeable(world: World, repository: Repository, pull: Pull): Promise<boolean | null> {
  if (pull.now.state !== 'open' || world.now() < pull.mergeableFrom) return null;
  const base = await tipOf(repository.dir, pull.now.base);
  return base !== undefined && mergesCleanly(repository.dir, base, pull.now.head);
}

export async function changedFiles({ dir }: Repository, { now }: Pull): Promise<readonly ChangedFile[]> {
  const range = `${await tipOf(dir, now.base)}...${now.head}`;
  const text = (await tryGit(dir, 'diff', '-z', '--raw', '--numstat', '--no-renames', range)) ?? '';
  const parts = text.split('\0');
  // A line and a path for each file; then each file's counts.
  const named = parts.flatMap((line, at) =>
    line.startsWith(':') ? [{ letter: line.at(-1) ?? '', path: parts[at + 1] ?? '' }] : [],
  );
  const counts = new Map(
    parts.slice(named.length * 2).map(line => {
      const [added = '0', removed = '0', path = ''] = line.split('\t');
      return [path, { additions: Number(added) || 0, deletions: Number(removed) || 0 }];
    }),
  );
  return named.map(({ letter, path }) => {
    const status = { A: 'added', D: 'removed' }[letter] ?? 'modified';
    return { status, path, ...(counts.get(path) ?? { additions: 0, deletions: 0 }) };
  });
}

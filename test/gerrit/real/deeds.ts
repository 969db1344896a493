/** What people and programs do at a real Gerrit: over git and REST, as themselves. */
import { createHash } from 'node:crypto';
import { createGitRepository, type GitRepository } from '../../fake/git-repository.ts';
import { type Account, type Ask, askWell } from './account.ts';
import { gitAccess } from './project-config.ts';

/** A change, as of its newest patch set that the test pushed. */
export interface PushedChange {
  readonly number: number;
  readonly changeId: string;
  /** As Gerrit has it. */
  readonly project: string;
  readonly commit: string;
}

interface PushSpec {
  readonly by: Account;
  readonly subject: string;
  /** As the test names it; default `acme/app`. */
  readonly project?: string;
  /** Default: one file named after the subject. */
  readonly files?: Readonly<Record<string, string>>;
  /** Between subject and footer, e.g. `Depends-On: …`. */
  readonly body?: string;
  /** Default: the tip of master. */
  readonly on?: PushedChange;
  /** The change that gets a new patch set; default: a new one. */
  readonly amends?: PushedChange;
  /** After `%`, e.g. `wip`, `topic=t1`. */
  readonly options?: string;
}

/** Each throws with Gerrit's answer when that is no success. */
export interface Deeds {
  push(spec: PushSpec): Promise<PushedChange>;
  /** Past review. @returns the commit */
  pushBranch(by: Account, project: string, files: Readonly<Record<string, string>>): Promise<string>;
  vote(change: PushedChange, by: Account, labels: Readonly<Record<string, number>>): Promise<void>;
  comment(change: PushedChange, by: Account, text: string): Promise<void>;
  abandon(change: PushedChange, by: Account): Promise<void>;
  setWip(change: PushedChange, by: Account, wip: boolean): Promise<void>;
  submit(change: PushedChange, by: Account): Promise<void>;
  /** Commit of master. @param project as Gerrit has it */
  tip(project: string, by: Account): Promise<string>;
}

export function deedsAt(site: {
  readonly url: string;
  readonly ask: Ask;
  readonly project: (name: string) => string;
}): Deeds {
  const { ask } = site;
  const deed = async (change: PushedChange, by: Account, what: string, body = {}) => {
    await askWell(ask, by, 'POST', `changes/${change.number}/${what}`, body);
  };
  let made = 0;
  return {
    async push(spec) {
      made += 1;
      const project = spec.amends?.project ?? site.project(spec.project ?? 'acme/app');
      const seed = `${site.url} ${spec.subject} ${made}`;
      const changeId = spec.amends?.changeId ?? `I${createHash('sha1').update(seed).digest('hex')}`;
      const commit = await pushCommit(site.url, spec, project, changeId);
      const found = await askWell(ask, spec.by, 'GET', `changes/?q=commit:${commit}`);
      const number = Array.isArray(found) ? numberOf(found[0]) : undefined;
      if (number === undefined) throw new Error(`no change of ${commit}`);
      return { number, changeId, project, commit };
    },
    async pushBranch(by, project, files) {
      await using repository = await createGitRepository();
      const remote = `${site.url}/a/${project}`;
      await repository.raw(['fetch', '--quiet', remote, 'master:refs/heads/base'], '', gitAccess(by));
      const plain = await repository.commit({ ref: 'refs/heads/base', files, message: 'Past review\n' });
      const scripts = Object.keys(files).filter(name => files[name]?.startsWith('#!'));
      const commit = await executable(repository, plain, scripts);
      await repository.raw(['push', '--quiet', remote, `${commit}:refs/heads/master`], '', gitAccess(by));
      return commit;
    },
    vote: (change, by, labels) => deed(change, by, 'revisions/current/review', { labels }),
    comment: (change, by, message) => deed(change, by, 'revisions/current/review', { message }),
    abandon: (change, by) => deed(change, by, 'abandon'),
    setWip: (change, by, wip) => deed(change, by, wip ? 'wip' : 'ready'),
    submit: (change, by) => deed(change, by, 'submit'),
    async tip(project, by) {
      const branch = await askWell(ask, by, 'GET', `projects/${encodeURIComponent(project)}/branches/master`);
      return branch !== null && typeof branch === 'object' && 'revision' in branch
        ? String(branch.revision)
        : '';
    },
  };
}

/** The commit once more, with these files executable. */
async function executable(
  repository: GitRepository,
  commit: string,
  files: readonly string[],
): Promise<string> {
  const index = { GIT_INDEX_FILE: `${repository.path}/index-of-test` };
  const run = async (...args: readonly string[]) => (await repository.raw(args, '', index)).toString().trim();
  await run('read-tree', commit);
  for (const file of files)
    await run('update-index', '--cacheinfo', `100755,${await run('rev-parse', `${commit}:${file}`)},${file}`);
  return run('commit-tree', await run('write-tree'), '-p', `${commit}^`, '-m', 'Past review');
}

async function pushCommit(url: string, spec: PushSpec, project: string, changeId: string): Promise<string> {
  const { by, subject, body, on, options } = spec;
  await using repository = await createGitRepository();
  const remote = `${url}/a/${project}`;
  const base = on === undefined ? 'master' : await refOf(repository, remote, on, by);
  await repository.raw(['fetch', '--quiet', remote, `${base}:refs/heads/base`], '', gitAccess(by));
  const file = `${Buffer.from(subject).toString('hex').slice(0, 64)}.txt`;
  const commit = await repository.commit({
    parents: [await repository.tip('refs/heads/base')],
    files: spec.files ?? { [file]: `${subject}\n` },
    message: `${[subject, ...(body === undefined ? [] : [body]), `Change-Id: ${changeId}`].join('\n\n')}\n`,
    // An equal commit would be no new patch set.
    ...(spec.amends === undefined ? {} : { date: Math.floor(Date.now() / 1000) }),
  });
  const target = `${commit}:refs/for/master${options === undefined ? '' : `%${options}`}`;
  await repository.raw(['push', '--quiet', remote, target], '', gitAccess(by));
  return commit;
}

/** The ref of the patch set: not every Gerrit gives commits by their ids. */
async function refOf(
  repository: GitRepository,
  remote: string,
  { number, commit }: PushedChange,
  by: Account,
): Promise<string> {
  const shard = String(number % 100).padStart(2, '0');
  const listed = await repository.raw(
    ['ls-remote', remote, `refs/changes/${shard}/${number}/*`],
    '',
    gitAccess(by),
  );
  const line = listed
    .toString()
    .split('\n')
    .find(each => each.startsWith(commit));
  return line?.split('\t')[1] ?? commit;
}

function numberOf(change: unknown): number | undefined {
  return typeof change === 'object' && change !== null && '_number' in change
    ? Number(change._number)
    : undefined;
}

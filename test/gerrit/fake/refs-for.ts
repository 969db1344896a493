/** A push to `refs/for/<branch>[%options]`: which commits become what, with Gerrit's refusals. */
import { may, mayEdit } from './authority.ts';
import { git, tipOf } from './bare-git.ts';
import { type CommitText, changeIdIn, readCommit } from './commits.ts';
import { review } from './doing/review.ts';
import { addReviewer } from './doing/reviewers.ts';
import { submit } from './doing/submit.ts';
import { openChange, type Uploaded, type UploadOptions, upload } from './doing/upload.ts';
import { changeUrl } from './events.ts';
import type { Command, CommandResult } from './receive-pack.ts';
import { currentPatchSet, type FakeAccount, type FakeProject, type GerritWorld, subjectOf } from './world.ts';

interface PushOptions extends UploadOptions {
  readonly reviewers: readonly string[];
  readonly ccs: readonly string[];
  readonly labels: { readonly [label: string]: number };
  readonly submits: boolean;
}

export async function receiveForReview(
  world: GerritWorld,
  project: FakeProject,
  by: FakeAccount,
  { ref, after }: Command,
): Promise<CommandResult> {
  const [target = '', list = ''] = ref.slice('refs/for/'.length).split(/%(.*)/s);
  const branch = target.replace(/^refs\/heads\//, '');
  const options = optionsIn(list);
  if ((await tipOf(project.dir, branch)) === undefined) return { ref, refused: `branch ${branch} not found` };
  if (!may(by, 'upload', project))
    return { ref, refused: `prohibited by Gerrit: not permitted: create change on refs/heads/${branch}` };
  if (options.submits && !may(by, 'submit', project)) return { ref, ...noSubmit(by, ref, branch) };
  const commits = await newCommits(project, after);
  const wrong = problemOf(world, project, by, branch, commits);
  if (wrong !== undefined) return { ref, ...wrong };
  const fresh = commits.filter(commit => !isCurrent(world, project, branch, commit));
  if (fresh.length === 0) return { ref, refused: 'no new changes', text: processing(0, []) };
  const uploads = fresh.map(commit => ({ project, branch, commit }));
  const made = await upload(world, by, uploads, options);
  await followUp(world, by, made, options);
  return {
    ref,
    text: `${processing(1, made)}\nSUCCESS\n\n${made.map(each => line(world, each)).join('\n')}\n\n`,
  };
}

function noSubmit(by: FakeAccount, ref: string, branch: string): { refused: string; text: string } {
  return {
    refused: `prohibited by Gerrit: not permitted: update by submit on refs/heads/${branch}`,
    text: `error: branch ${ref}:\nYou need 'Submit' rights on refs/for/ to submit changes during change upload.\nUser: ${by.username}\nContact an administrator to fix the permissions\n`,
  };
}

/** Parents first: those that no branch has. */
async function newCommits({ dir }: FakeProject, tip: string): Promise<readonly CommitText[]> {
  const list = await git(dir, 'rev-list', '--reverse', '--topo-order', tip, '--not', '--branches');
  return Promise.all(
    list
      .split('\n')
      .filter(Boolean)
      .map(id => readCommit(dir, id)),
  );
}

function isCurrent(world: GerritWorld, project: FakeProject, branch: string, commit: CommitText): boolean {
  return [...world.changes.values()].some(
    each =>
      each.project === project &&
      each.now.branch === branch &&
      each.now.status === 'NEW' &&
      currentPatchSet(each.now).commit === commit.id,
  );
}

function problemOf(
  world: GerritWorld,
  project: FakeProject,
  by: FakeAccount,
  branch: string,
  commits: readonly CommitText[],
): { refused: string; text?: string } | undefined {
  const ids = commits.map(commit => changeIdIn(commit.message));
  const without = commits.find((_, at) => ids[at] === undefined);
  if (without !== undefined) {
    const refused = `commit ${without.id.slice(0, 7)}: missing Change-Id in message footer`;
    return { refused, text: `${processing(1, [])}ERROR: ${refused}\n${hint(by)}` };
  }
  if (new Set(ids).size < ids.length)
    return {
      refused:
        'same Change-Id in multiple changes. Squash the commits with the same Change-Id or ensure Change-Ids are unique for each commit',
    };
  for (const id of ids) {
    const closed = [...world.changes.values()].find(
      each =>
        each.project === project &&
        each.now.branch === branch &&
        each.changeId === id &&
        each.now.status !== 'NEW',
    );
    if (closed !== undefined) return { refused: `change ${changeUrl(world, closed)} closed` };
    const open = id === undefined ? undefined : openChange(world, project, branch, id);
    if (open !== undefined && !may(by, 'upload', project) && !mayEdit(by, open))
      return { refused: `cannot add patch set to ${open.number}.` };
  }
  return undefined;
}

function hint({ username }: FakeAccount): string {
  return `
Hint: to automatically insert a Change-Id, install the hook:
  gitdir=$(git rev-parse --git-dir); scp -p -P 29418 ${username}@127.0.0.1:hooks/commit-msg \${gitdir}/hooks/
and then amend the commit:
  git commit --amend --no-edit
Finally, push your changes again

`;
}

function processing(refs: number, made: readonly Uploaded[]): string {
  const fresh = made.filter(each => each.isNew).length;
  const updated = made.length - fresh;
  const parts = [
    `refs: ${Math.max(1, refs)}`,
    ...(fresh === 0 ? [] : [`new: ${fresh}`]),
    ...(updated === 0 ? [] : [`updated: ${updated}`]),
    'done',
  ];
  return `Processing changes: ${parts.join(', ')}\n`;
}

function line(world: GerritWorld, { change, isNew }: Uploaded): string {
  const marks = [
    ...(change.now.private ? [' [PRIVATE]'] : []),
    ...(change.now.wip ? [' [WIP]'] : []),
    ...(isNew ? [' [NEW]'] : []),
  ];
  return `  ${changeUrl(world, change)} ${subjectOf(change.now)}${marks.join('')}`;
}

function optionsIn(list: string): PushOptions {
  const pairs = list
    .split(',')
    .filter(Boolean)
    .map(each => {
      const [name = '', value = ''] = each.split(/=(.*)/s);
      return [name, decodeURIComponent(value.replaceAll('+', ' '))] as const;
    });
  const all = (...names: readonly string[]) =>
    pairs.filter(([name]) => names.includes(name)).map(([, value]) => value);
  const has = (name: string) => pairs.some(([each]) => each === name);
  const labels = all('l', 'label').map(text => {
    const found = /^(.+?)([+-]\d+| \d+)?$/.exec(text);
    return [found?.[1] ?? text, Number(found?.[2]?.trim() ?? 1)] as const;
  });
  const [topic] = all('topic');
  return {
    ...(topic === undefined ? {} : { topic }),
    hashtags: all('hashtag', 't'),
    ...(has('wip') ? { wip: true } : has('ready') ? { wip: false } : {}),
    ...(has('private') ? { private: true } : has('remove-private') ? { private: false } : {}),
    reviewers: all('r'),
    ccs: all('cc'),
    labels: Object.fromEntries(labels),
    submits: has('submit'),
  };
}

async function followUp(
  world: GerritWorld,
  by: FakeAccount,
  made: readonly Uploaded[],
  { reviewers, ccs, labels, submits }: PushOptions,
): Promise<void> {
  const account = (name: string) =>
    [...world.accounts.values()].find(each => each.username === name || each.email === name);
  for (const { change } of made) {
    for (const [names, state] of [
      [reviewers, 'REVIEWER'],
      [ccs, 'CC'],
    ] as const)
      for (const name of names) {
        const found = account(name);
        if (found !== undefined) await addReviewer(world, by, change, found, state);
      }
    if (Object.keys(labels).length > 0)
      await review(world, by, change, currentPatchSet(change.now), { labels });
  }
  const last = made.at(-1);
  if (submits && last !== undefined) await submit(world, by, last.change);
}

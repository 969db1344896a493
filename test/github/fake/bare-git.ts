/** Real bare repositories: what GitHub does to them by itself. */
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { answerFromFiles } from '../../fake/answer-from-files.ts';
import { makeBareRepository, readRef, readRefs } from '../../fake/bare-repository.ts';
import { commitWriterOf } from '../../fake/commit-writer.ts';
import { FAST_IMPORT, runGit } from '../../fake/git-repository.ts';
import { PRE_RECEIVE } from './pre-receive.ts';

/** Nothing of the machine's or the person's configuration. */
export const GIT_ENVIRONMENT = {
  PATH: process.env.PATH ?? '/usr/bin:/bin',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'GitHub',
  GIT_AUTHOR_EMAIL: 'noreply@github.com',
  GIT_COMMITTER_NAME: 'GitHub',
  GIT_COMMITTER_EMAIL: 'noreply@github.com',
};

/** Answers of {@link git} that hold for ever, by folder and question. */
const settled = new Map<string, Promise<string>>();
/** What a page of GitHub shows of commits: diffs, messages, ancestry. */
const READS = new Set(['diff', 'log', 'rev-list', 'merge-base', 'merge-tree', 'cat-file']);
const OF_OBJECTS = /^(-.*|\^?[0-9a-f]{40}((\.\.\.?)[0-9a-f]{40})?|commit|tree|blob)$/;

/**
 * Stdout without its last line breaks. What is asked of objects by their ids is asked once: clients read the same pull request again
 * and again.
 */
export function git(dir: string, ...args: readonly string[]): Promise<string> {
  const [command = '', ...rest] = args;
  const forEver = READS.has(command) && rest.every(each => OF_OBJECTS.test(each));
  if (!forEver) return ask(dir, args);
  const question = [dir, ...args].join('\0');
  const known = settled.get(question);
  if (known !== undefined) return known;
  const answer = ask(dir, args);
  settled.set(question, answer);
  // An object that is missing now may arrive.
  answer.catch(() => settled.delete(question));
  return answer;
}

async function ask(dir: string, args: readonly string[]): Promise<string> {
  const known = await answerFromFiles(dir, args);
  if (known === null) throw new Error(`git ${args.join(' ')}: no`);
  if (known !== undefined) return known;
  return (await runGit(dir, args, '', GIT_ENVIRONMENT)).toString().trimEnd();
}

/** Undefined: git ended with an error. */
export async function tryGit(dir: string, ...args: readonly string[]): Promise<string | undefined> {
  return git(dir, ...args).catch(() => undefined);
}

export async function createBareRepository(dir: string, branch: string): Promise<void> {
  const settings = `[http]\n\treceivepack = true\n[uploadpack]\n\tallowAnySHA1InWant = true\n\tallowFilter = true\n`;
  await makeBareRepository(dir, branch, settings);
  await writeFile(`${dir}/protected-refs`, '');
  await mkdir(`${dir}/hooks`, { recursive: true });
  await writeFile(`${dir}/hooks/pre-receive`, PRE_RECEIVE);
  await chmod(`${dir}/hooks/pre-receive`, 0o755);
}

/** Full ref name → commit id (of annotated tags: id of the tag). */
export const refsOf = readRefs;

/** Commit of a branch; undefined: there is none of that name. */
export function tipOf(dir: string, branch: string): Promise<string | undefined> {
  return readRef(dir, `refs/heads/${branch}`);
}

export async function isAncestor(dir: string, older: string, newer: string): Promise<boolean> {
  return (await tryGit(dir, 'merge-base', '--is-ancestor', older, newer)) !== undefined;
}

export async function mergesCleanly(dir: string, base: string, head: string): Promise<boolean> {
  return (await mergedTree(dir, base, head)) !== undefined;
}

/** GitHub's three ways to merge. @returns the new tip; undefined: conflict. */
export async function mergeInto(
  dir: string,
  { base, head, method, message }: { base: string; head: string; method: string; message: string },
): Promise<string | undefined> {
  if (method === 'rebase') return rebaseOnto(dir, base, head);
  const tree = await mergedTree(dir, base, head);
  if (tree === undefined) return undefined;
  const parents = method === 'merge' ? ['-p', base, '-p', head] : ['-p', base];
  return git(dir, 'commit-tree', tree, ...parents, '-m', message);
}

async function rebaseOnto(dir: string, base: string, head: string): Promise<string | undefined> {
  const list = await git(dir, 'rev-list', '--reverse', '--no-merges', `${base}..${head}`);
  let tip = base;
  for (const commit of list.split('\n').filter(Boolean)) {
    // Git before 2.40 takes no merge base: a commit with the tip's tree on the commit's parent has the right one.
    const stand = await git(dir, 'commit-tree', `${tip}^{tree}`, '-p', `${commit}^`, '-m', 'base');
    const tree = await mergedTree(dir, stand, commit);
    if (tree === undefined) return undefined;
    tip = await git(
      dir,
      'commit-tree',
      tree,
      '-p',
      tip,
      '-m',
      await git(dir, 'log', '-1', '--format=%B', commit),
    );
  }
  return tip;
}

async function mergedTree(dir: string, ours: string, theirs: string): Promise<string | undefined> {
  const output = await tryGit(dir, 'merge-tree', '--write-tree', ours, theirs);
  return output?.split('\n')[0];
}

/** Makes a commit without a checkout, and no ref to it. @param files content by path; null removes. @returns its id. */
export async function commitFiles(
  dir: string,
  { parent, files, message, author }: CommitRequest,
): Promise<string> {
  const now = `${Math.trunc(Date.now() / 1000)} +0000`;
  const written = await commitWriterOf(dir).write({
    parents: parent === undefined ? [] : [parent],
    // Scripts are executable, as their authors commit them.
    files: Object.entries(files).map(([path, content]) => [
      path,
      content,
      content?.startsWith('#!') === true,
    ]),
    message: `${message}\n`,
    who: `${author} <${author}@example.org> ${now}`,
    committer: `${GIT_ENVIRONMENT.GIT_COMMITTER_NAME} <${GIT_ENVIRONMENT.GIT_COMMITTER_EMAIL}> ${now}`,
  });
  if (written !== undefined) return written;
  const ref = 'refs/fake/new';
  const parts = [
    `reset ${ref}\ncommit ${ref}\nmark :1\nauthor ${author} <${author}@example.org> ${now}\n`,
    `committer ${GIT_ENVIRONMENT.GIT_COMMITTER_NAME} <${GIT_ENVIRONMENT.GIT_COMMITTER_EMAIL}> ${now}\n`,
    `data ${Buffer.byteLength(message) + 1}\n${message}\n\n`,
    parent === undefined ? '' : `from ${parent}\n`,
    ...Object.entries(files).map(([path, content]) => {
      if (content === null) return `D ${JSON.stringify(path)}\n`;
      const mode = content.startsWith('#!') ? '100755' : '100644';
      return `M ${mode} inline ${JSON.stringify(path)}\ndata ${Buffer.byteLength(content)}\n${content}\n`;
    }),
    // A ref at nothing is not written.
    `\nget-mark :1\nreset ${ref}\nfrom ${'0'.repeat(40)}\n`,
  ];
  return (await runGit(dir, FAST_IMPORT, parts.join(''), GIT_ENVIRONMENT)).toString().trim();
}

export interface CommitRequest {
  readonly parent: string | undefined;
  readonly files: { readonly [path: string]: string | null };
  readonly message: string;
  readonly author: string;
}

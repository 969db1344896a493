/** A developer with a clone: real `git` commands, as a person would type them. */
import { execFile } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { DemoFile } from './demo-files.ts';

const run = promisify(execFile);

/** Isolates the demo from the user's own git configuration. */
const ENVIRONMENT = {
  PATH: process.env.PATH ?? '/usr/bin:/bin',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Ada Example',
  GIT_AUTHOR_EMAIL: 'ada@example.org',
  GIT_COMMITTER_NAME: 'Ada Example',
  GIT_COMMITTER_EMAIL: 'ada@example.org',
};

/** @throws Error with git's own message when it fails. */
export async function git(cwd: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await run('git', [...args], { cwd, env: ENVIRONMENT });
  return stdout.trim();
}

/** Creates a bare repository whose `master` holds `files` in one commit, and a clone to work in. */
export async function createRepository(
  bare: string,
  clone: string,
  files: readonly DemoFile[],
): Promise<void> {
  await mkdir(bare, { recursive: true });
  await git(bare, 'init', '--quiet', '--bare', '--initial-branch=master');
  await mkdir(path.dirname(clone), { recursive: true });
  await git(path.dirname(clone), 'clone', '--quiet', bare, clone);
  // For people who work in it without a name of their own.
  await git(clone, 'config', 'user.name', ENVIRONMENT.GIT_AUTHOR_NAME);
  await git(clone, 'config', 'user.email', ENVIRONMENT.GIT_AUTHOR_EMAIL);
  await git(clone, 'checkout', '--quiet', '-B', 'master');
  await commitFiles(clone, 'Begin', files);
  await git(clone, 'push', '--quiet', 'origin', 'master');
}

/** Commits `files` on a new topic branch that starts at the branch tip as it was cloned; returns the commit. */
export async function commitTopic(
  clone: string,
  topic: string,
  subject: string,
  files: readonly DemoFile[],
): Promise<string> {
  await git(clone, 'checkout', '--quiet', '-B', topic, 'origin/master');
  await commitFiles(clone, subject, files);
  return git(clone, 'rev-parse', 'HEAD');
}

/** Proposes: `git push origin <topic>:for/master/<topic>`. */
export async function propose(clone: string, topic: string): Promise<void> {
  await git(clone, 'push', '--quiet', '--force', 'origin', `${topic}:refs/heads/for/master/${topic}`);
}

/** Approves a proposal: `git push origin <topic>:gate/master/<topic>`. */
export async function approve(clone: string, topic: string): Promise<void> {
  await git(clone, 'push', '--quiet', '--force', 'origin', `${topic}:refs/heads/gate/master/${topic}`);
}

/** Commits a tree of nothing but `files`, also where the tip has that tree. */
export async function replaceFiles(
  clone: string,
  subject: string,
  files: readonly DemoFile[],
): Promise<void> {
  await git(clone, 'rm', '-r', '--quiet', '--ignore-unmatch', '.');
  await commitFiles(clone, subject, files, '--allow-empty');
}

export async function writeFiles(directory: string, files: readonly DemoFile[]): Promise<void> {
  for (const file of files) {
    const target = path.join(directory, file.path);
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, file.text);
    await chmod(target, file.executable === true ? 0o755 : 0o644);
  }
}

async function commitFiles(
  clone: string,
  subject: string,
  files: readonly DemoFile[],
  ...options: readonly string[]
): Promise<void> {
  await writeFiles(clone, files);
  await git(clone, 'add', '--all');
  await git(clone, 'commit', '--quiet', '--message', subject, ...options);
}

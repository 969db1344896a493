/**
 * People who push: commits are made in a repository of their own that shares objects with the host's, and arrive by
 * real `git push`, so that hooks, atomicity and ref rules are the real ones.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { runGit } from '../fake/git-repository.ts';

/** Path → text; null deletes. Files below `playbooks/` are executable. */
export type Files = Readonly<Record<string, string | null>>;

export interface Developer {
  readonly project: string;
  /** The host's bare repository. */
  readonly bare: string;
  /** A commit on top of `parent` (default: the tip of `branch` at the host, or nothing). */
  commit(spec: {
    readonly files: Files;
    readonly message: string;
    readonly branch?: string;
    readonly parent?: string | null;
  }): Promise<string>;
  /** @param to null: delete the ref. */
  push(to: string | null, ref: string): Promise<void>;
  /** Undefined: there is no such ref. */
  tip(ref: string): Promise<string | undefined>;
  git(...args: readonly string[]): Promise<string>;
}

/** Seconds since the epoch of the first commit; each is one minute later. */
const FIRST_DATE = 1_767_225_600;

/** Pushes of others than developers (the gate's own) leave the project's name in the FIFO `hookCalls`. */
export async function createDeveloper(
  root: string,
  project: string,
  files: Files,
  hookCalls: string,
): Promise<Developer> {
  const bare = path.join(root, 'repositories', `${project}.git`);
  const own = path.join(root, 'developers', `${project}.git`);
  for (const each of [bare, own]) {
    await mkdir(each, { recursive: true });
    await runGit(each, ['init', '--quiet', '--bare', '--template=', '--initial-branch=master']);
  }
  await mkdir(path.join(own, 'objects/info'), { recursive: true });
  await writeFile(path.join(own, 'objects/info/alternates'), `${path.join(bare, 'objects')}\n`);
  const hook = path.join(bare, 'hooks/post-receive');
  await mkdir(path.dirname(hook), { recursive: true });
  await writeFile(hook, `#!/bin/sh\n[ -n "$STORY_PUSH" ] || echo ${project} >>${hookCalls}\n`, {
    mode: 0o755,
  });
  let made = 0;
  const developer: Developer = {
    project,
    bare,
    async commit({ files: changed, message, branch = 'master', parent }) {
      const base = parent === undefined ? await developer.tip(`refs/heads/${branch}`) : parent;
      made += 1;
      const stream = importStream(changed, message, base ?? undefined, FIRST_DATE + made * 60);
      await runGit(own, ['fast-import', '--quiet', '--force', '--date-format=raw'], stream);
      return (await runGit(own, ['rev-parse', '--verify', 'refs/heads/work'])).toString().trim();
    },
    async push(to, ref) {
      await runGit(own, ['push', '--quiet', '--force', bare, `${to ?? ''}:${ref}`], '', {
        STORY_PUSH: 'yes',
      });
    },
    async tip(ref) {
      const text = (await runGit(bare, ['for-each-ref', '--format=%(objectname)', ref])).toString().trim();
      return text === '' ? undefined : text;
    },
    git: async (...args) => (await runGit(bare, args)).toString().trimEnd(),
  };
  await developer.push(
    await developer.commit({ files, message: 'Begin', parent: null }),
    'refs/heads/master',
  );
  return developer;
}

function importStream(files: Files, message: string, parent: string | undefined, date: number): string {
  const who = `Ada Example <ada@example.org> ${date} +0000`;
  const lines = Object.entries(files).map(([name, text]) => {
    const quoted = JSON.stringify(name);
    if (text === null) return `D ${quoted}\n`;
    const mode = name.startsWith('playbooks/') ? '100755' : '100644';
    return `M ${mode} inline ${quoted}\ndata ${Buffer.byteLength(text)}\n${text}\n`;
  });
  const head = `reset refs/heads/work\ncommit refs/heads/work\nauthor ${who}\ncommitter ${who}\n`;
  const from = parent === undefined ? '' : `from ${parent}\n`;
  return `${head}data ${Buffer.byteLength(message)}\n${message}\n${from}${lines.join('')}\n`;
}

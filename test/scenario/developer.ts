/**
 * People who push. A push is what it does at the host: the objects are there, the ref moves. The hosts' own programs receive what the
 * gate pushes; people send theirs to a real host in `test/e2e`.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { makeBareRepository, readRef } from '../fake/bare-repository.ts';
import { FAST_IMPORT, runGit } from '../fake/git-repository.ts';

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
  for (const each of [bare, own]) await makeBareRepository(each, 'master');
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
      return (await runGit(own, FAST_IMPORT, stream, { GIT_OBJECT_DIRECTORY: path.join(bare, 'objects') }))
        .toString()
        .trim();
    },
    async push(to, ref) {
      await runGit(bare, ['update-ref', ...(to === null ? ['-d', ref] : [ref, to])]);
    },
    tip: ref => readRef(bare, ref),
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
  const head = `reset refs/heads/work\ncommit refs/heads/work\nmark :1\nauthor ${who}\ncommitter ${who}\n`;
  const from = parent === undefined ? '' : `from ${parent}\n`;
  return `${head}data ${Buffer.byteLength(message)}\n${message}\n${from}${lines.join('')}\nget-mark :1\n`;
}

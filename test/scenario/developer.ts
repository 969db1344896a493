/**
 * People who push. A push is what it does at the host: the objects are there, the ref moves. The hosts' own programs receive what the
 * gate pushes; people send theirs to a real host in `test/e2e`.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { answerFromFiles } from '../fake/answer-from-files.ts';
import { makeBareRepository, readRef, writeRef } from '../fake/bare-repository.ts';
import { createCommitWriter } from '../fake/commit-writer.ts';
import { FAST_IMPORT, runGit } from '../fake/git-repository.ts';

/** Path → text; null deletes. Files below `playbooks/` are executable. */
export type Files = Readonly<Record<string, string | null>>;

interface CommitSpec {
  readonly files: Files;
  readonly message: string;
  readonly branch?: string;
  readonly parent?: string | null;
}

export interface Developer {
  readonly project: string;
  /** The host's bare repository. */
  readonly bare: string;
  /** The commit that the project begins with. */
  readonly first: string;
  /** A commit on top of `parent` (default: the tip of `branch` at the host, or nothing). */
  commit(spec: CommitSpec): Promise<string>;
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
  await makeBareRepository(bare, 'master');
  const hook = path.join(bare, 'hooks/post-receive');
  await mkdir(path.dirname(hook), { recursive: true });
  await writeFile(hook, `#!/bin/sh\n[ -n "$STORY_PUSH" ] || echo ${project} >>${hookCalls}\n`, {
    mode: 0o755,
  });
  const writer = createCommitWriter(bare);
  let made = 0;

  async function commit({ files: changed, message, branch = 'master', parent }: CommitSpec): Promise<string> {
    const base = parent === undefined ? await readRef(bare, `refs/heads/${branch}`) : parent;
    made += 1;
    const who = `Ada Example <ada@example.org> ${FIRST_DATE + made * 60} +0000`;
    const written = await writer.write({
      parents: base === null || base === undefined ? [] : [base],
      files: Object.entries(changed).map(([name, text]) => [name, text, isExecutable(name)]),
      message,
      who,
    });
    return written ?? byGit(importStream(changed, message, base ?? undefined, who));
  }

  /** In a repository of the developer's own, which leaves its objects at the host. */
  async function byGit(stream: string): Promise<string> {
    const own = path.join(root, 'developers', `${project}.git`);
    const objects = path.join(bare, 'objects');
    await makeBareRepository(own, 'master');
    await writeFile(path.join(own, 'objects/info/alternates'), `${objects}\n`);
    return (await runGit(own, FAST_IMPORT, stream, { GIT_OBJECT_DIRECTORY: objects })).toString().trim();
  }

  async function push(to: string | null, ref: string): Promise<void> {
    if (await writeRef(bare, ref, to)) return;
    await runGit(bare, ['update-ref', ...(to === null ? ['-d', ref] : [ref, to])]);
  }

  const first = await commit({ files, message: 'Begin', parent: null });
  await push(first, 'refs/heads/master');
  return {
    project,
    bare,
    first,
    commit,
    push,
    tip: ref => readRef(bare, ref),
    git: async (...args) =>
      (await answerFromFiles(bare, args)) ?? (await runGit(bare, args)).toString().trimEnd(),
  };
}

function isExecutable(name: string): boolean {
  return name.startsWith('playbooks/');
}

function importStream(files: Files, message: string, parent: string | undefined, who: string): string {
  const lines = Object.entries(files).map(([name, text]) => {
    const quoted = JSON.stringify(name);
    if (text === null) return `D ${quoted}\n`;
    const mode = isExecutable(name) ? '100755' : '100644';
    return `M ${mode} inline ${quoted}\ndata ${Buffer.byteLength(text)}\n${text}\n`;
  });
  const head = `reset refs/heads/work\ncommit refs/heads/work\nmark :1\nauthor ${who}\ncommitter ${who}\n`;
  const from = parent === undefined ? '' : `from ${parent}\n`;
  return `${head}data ${Buffer.byteLength(message)}\n${message}\n${from}${lines.join('')}\nget-mark :1\n`;
}

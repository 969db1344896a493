/** The code host of a cluster: bare repositories with a journal, and developers who push to them as people do. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { runGit } from '../../fake/git-repository.ts';
import { installJournal } from './journal.ts';

/** Path → text. Files below `playbooks/` are executable. */
export type Files = Readonly<Record<string, string>>;

export interface HostedProject {
  readonly name: string;
  /** The host's bare repository. */
  readonly bare: string;
  /** The commit its master began with. */
  readonly begin: string;
  /** A commit on top of the beginning, of the developer's own. */
  commit(files: Files, message: string): Promise<string>;
  /** One push of any number of refs (full name → commit). */
  push(refs: Readonly<Record<string, string>>): Promise<void>;
  /** A commit pushed straight onto master, past the gate; tried again when the gate moves master first. */
  commitOnMaster(files: Files, message: string): Promise<void>;
}

/** Seconds since the epoch of all commits: ids depend on content only. */
const DATE = 1_767_225_600;
const MOST_TRIES = 50;

export async function hostProject(
  root: string,
  name: string,
  files: Files,
  journalFile: string,
): Promise<HostedProject> {
  const bare = path.join(root, 'repositories', `${name}.git`);
  const own = path.join(root, 'developers', `${name}.git`);
  for (const each of [bare, own]) {
    await mkdir(each, { recursive: true });
    await runGit(each, ['init', '--quiet', '--bare', '--template=', '--initial-branch=master']);
  }
  await runGit(bare, ['config', 'gc.auto', '0']);
  await mkdir(path.join(own, 'objects/info'), { recursive: true });
  await writeFile(path.join(own, 'objects/info/alternates'), `${path.join(bare, 'objects')}\n`);

  let committing: Promise<unknown> = Promise.resolve();

  /** One after the other: all of them move the same ref. */
  function commit(changed: Files, message: string, parent?: string): Promise<string> {
    const made = committing.then(async () => {
      const stream = importStream(changed, message, parent);
      await runGit(own, ['fast-import', '--quiet', '--force', '--date-format=raw'], stream);
      return (await runGit(own, ['rev-parse', '--verify', 'refs/heads/work'])).toString().trim();
    });
    committing = made.catch(() => {}); // the caller has it
    return made;
  }
  async function push(refs: Readonly<Record<string, string>>): Promise<void> {
    const specs = Object.entries(refs).map(([ref, id]) => `${id}:${ref}`);
    for (let tries = 1; ; tries++) {
      try {
        await runGit(own, ['push', '--quiet', '--force', '--atomic', bare, ...specs]);
        return;
      } catch (error) {
        // A lock at the host, as a developer meets it: try again.
        if (tries === MOST_TRIES) throw error;
        await delay(100);
      }
    }
  }
  async function commitOnMaster(changed: Files, message: string): Promise<void> {
    for (let tries = 1; ; tries++) {
      const tip = (await runGit(bare, ['rev-parse', '--verify', 'refs/heads/master'])).toString().trim();
      const made = await commit(changed, message, tip);
      try {
        await runGit(own, ['push', '--quiet', bare, `${made}:refs/heads/master`]);
        return;
      } catch (error) {
        if (tries === MOST_TRIES) throw error;
      }
    }
  }
  const begin = await commit(files, 'Begin');
  await push({ 'refs/heads/master': begin });
  await installJournal(bare, name, journalFile);
  return {
    name,
    bare,
    begin,
    commit: (changed, message) => commit(changed, message, begin),
    push,
    commitOnMaster,
  };
}

function importStream(files: Files, message: string, parent: string | undefined): string {
  const who = `Ada Example <ada@example.org> ${DATE} +0000`;
  const lines = Object.entries(files).map(([name, text]) => {
    const mode = name.startsWith('playbooks/') ? '100755' : '100644';
    return `M ${mode} inline ${JSON.stringify(name)}\ndata ${Buffer.byteLength(text)}\n${text}\n`;
  });
  const head = `reset refs/heads/work\ncommit refs/heads/work\nauthor ${who}\ncommitter ${who}\n`;
  const from = parent === undefined ? '' : `from ${parent}\n`;
  return `${head}data ${Buffer.byteLength(message)}\n${message}\n${from}${lines.join('')}\n`;
}

/** Real bare repositories: what Gerrit does to them by itself. */
import { createHash } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { deflateSync } from 'node:zlib';
import { answerFromFiles } from '../../fake/answer-from-files.ts';
import { makeBareRepository, readRef } from '../../fake/bare-repository.ts';
import { commitWriterOf } from '../../fake/commit-writer.ts';
import { FAST_IMPORT, runGit } from '../../fake/git-repository.ts';

export const NO_COMMIT = '0'.repeat(40);
export const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** Who makes a commit. */
export interface Person {
  readonly name: string;
  readonly email: string;
}

/** Of merge commits and of what Gerrit writes without a person. */
export const GERRIT: Person = { name: 'Gerrit Code Review', email: 'gerrit@127.0.0.1' };

export async function createGerritRepository(dir: string, branch: string): Promise<void> {
  await makeBareRepository(dir, branch, '[uploadpack]\n\tallowAnySHA1InWant = true\n\tallowFilter = true\n');
}

/** Stdout without its last line breaks. @throws Error when git ends with an error */
export async function git(dir: string, ...args: readonly string[]): Promise<string> {
  const known = await answerFromFiles(dir, args);
  if (known === null) throw new Error(`git ${args.join(' ')}: no`);
  return known ?? (await runGit(dir, args)).toString().trimEnd();
}

/** The same with bytes on stdin, or with another identity. */
export async function gitWith(
  dir: string,
  args: readonly string[],
  {
    input = '',
    author,
    committer,
    at,
  }: {
    input?: string | Uint8Array;
    author?: Person & { readonly seconds?: number };
    committer?: Person;
    at?: number;
  },
): Promise<string> {
  const when = at === undefined ? undefined : `@${Math.trunc(at / 1000)} +0000`;
  const written = author?.seconds === undefined ? when : `@${author.seconds} +0000`;
  const environment = {
    ...(author === undefined ? {} : { GIT_AUTHOR_NAME: author.name, GIT_AUTHOR_EMAIL: author.email }),
    ...(committer === undefined
      ? {}
      : { GIT_COMMITTER_NAME: committer.name, GIT_COMMITTER_EMAIL: committer.email }),
    ...(written === undefined ? {} : { GIT_AUTHOR_DATE: written }),
    ...(when === undefined ? {} : { GIT_COMMITTER_DATE: when }),
  };
  return (await runGit(dir, args, input, environment)).toString().trimEnd();
}

/** Undefined: git ended with an error. */
export function tryGit(dir: string, ...args: readonly string[]): Promise<string | undefined> {
  return git(dir, ...args).catch(() => undefined);
}

export function tipOf(dir: string, branch: string): Promise<string | undefined> {
  return readRef(dir, `refs/heads/${branch}`);
}

export async function isAncestor(dir: string, older: string, newer: string): Promise<boolean> {
  return older === newer || (await tryGit(dir, 'merge-base', '--is-ancestor', older, newer)) !== undefined;
}

/** Sets a ref without a process of git; nothing else writes these at the same time. */
export async function writeRefFile(dir: string, ref: string, commit: string | null): Promise<void> {
  const file = path.join(dir, ref);
  if (commit === null) return rm(file, { force: true });
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(`${file}.lock`, `${commit}\n`);
  await rename(`${file}.lock`, file);
}

/** A commit of the empty tree, as NoteDb's, without a process of git. @returns its id */
export async function writeNote(
  dir: string,
  { parent, text, by, at }: { parent: string | null; text: string; by: Person; at: number },
): Promise<string> {
  const seconds = Math.trunc(at / 1000);
  const body = [
    `tree ${EMPTY_TREE}`,
    ...(parent === null ? [] : [`parent ${parent}`]),
    `author ${by.name} <${by.email}> ${seconds} +0000`,
    `committer ${GERRIT.name} <${GERRIT.email}> ${seconds} +0000`,
    '',
    `${text}\n`,
  ].join('\n');
  const object = Buffer.concat([Buffer.from(`commit ${Buffer.byteLength(body)}\0`), Buffer.from(body)]);
  const id = createHash('sha1').update(object).digest('hex');
  const folder = path.join(dir, 'objects', id.slice(0, 2));
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, id.slice(2)), deflateSync(object));
  return id;
}

export interface CommitRequest {
  readonly parents: readonly string[];
  /** Content by path; null removes. */
  readonly files: { readonly [path: string]: string | null };
  readonly message: string;
  readonly by: Person;
  /** Milliseconds. */
  readonly at: number;
}

/** Makes a commit without a checkout, and no ref to it. @returns its id */
export async function commitFiles(dir: string, request: CommitRequest): Promise<string> {
  const { parents, files, message, by, at } = request;
  const who = `${by.name} <${by.email}> ${Math.trunc(at / 1000)} +0000`;
  const written = await commitWriterOf(dir).write({
    parents,
    files: Object.entries(files).map(([name, content]) => [
      name,
      content,
      content?.startsWith('#!') === true,
    ]),
    message,
    who,
  });
  if (written !== undefined) return written;
  const ref = 'refs/fake/new';
  const parts = [
    `reset ${ref}\ncommit ${ref}\nmark :1\nauthor ${who}\ncommitter ${who}\n`,
    `data ${Buffer.byteLength(message)}\n${message}\n`,
    ...parents.map((parent, at) => `${at === 0 ? 'from' : 'merge'} ${parent}\n`),
    ...Object.entries(files).map(([name, content]) => {
      if (content === null) return `D ${JSON.stringify(name)}\n`;
      const mode = content.startsWith('#!') ? '100755' : '100644';
      return `M ${mode} inline ${JSON.stringify(name)}\ndata ${Buffer.byteLength(content)}\n${content}\n`;
    }),
    // A ref at nothing is not written.
    `\nget-mark :1\nreset ${ref}\nfrom ${NO_COMMIT}\n`,
  ];
  return (await runGit(dir, FAST_IMPORT, parts.join(''))).toString().trim();
}

/**
 * Makes small real repositories for tests: plain `git` with fixed identity and dates, so that commit ids are the same in every run.
 *
 *     await using repository = await createGitRepository();
 *     const base = await repository.commit({ files: { 'README.md': 'hello\n' } });
 *     const change = await repository.commit({ ref: 'refs/heads/fix', parents: [base], files: { 'a.txt': 'a\n' } });
 *
 * Most commits are written as files (commit-writer.ts), the others with fast-import: no work tree, any number of files, any bytes as names.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { startAside } from '../../src/git/starter/start-aside.ts';
import { makeBareRepository, readRef, writeRef } from './bare-repository.ts';
import { createCommitWriter } from './commit-writer.ts';

/** 2026-01-01T00:00:00Z; each commit of a repository is one minute later than the one before. */
const FIRST_DATE = 1_767_225_600;

interface CommitSpec {
  /** Full ref that then points at the commit; default `refs/heads/main`. */
  readonly ref?: string;
  /** Default: the present tip of `ref`, if any. The first is what `files` are changes of. */
  readonly parents?: readonly string[];
  /** Path → content; null deletes. */
  readonly files?: Readonly<Record<string, string | null>>;
  /** Which of them can be run; default: none. */
  readonly isScript?: (path: string) => boolean;
  /** The same for paths that are not UTF-8. */
  readonly rawFiles?: readonly (readonly [path: Buffer, content: string | null])[];
  readonly message?: string;
  /** Seconds since the epoch, author and committer. */
  readonly date?: number;
}

export interface GitRepository extends AsyncDisposable {
  /** The bare repository. */
  readonly path: string;
  readonly url: string;
  /** Makes a commit, moves the ref, returns the id. */
  commit(spec: CommitSpec): Promise<string>;
  /** Runs plain git here; returns stdout without the last newline. */
  git(...args: string[]): Promise<string>;
  /** The same with bytes on both sides. */
  raw(
    args: readonly string[],
    input?: string | Uint8Array,
    environment?: Readonly<Record<string, string>>,
  ): Promise<Buffer>;
  /** Commit a ref points at. */
  tip(ref: string): Promise<string>;
  remove(): Promise<void>;
}

/** @param folder where to make it; default a new directory below the temporary directory. */
export async function createGitRepository(folder?: string): Promise<GitRepository> {
  const parent = await mkdtemp(join(folder ?? tmpdir(), 'gatehouse-git-'));
  const path = join(parent, 'repository.git');
  let made = 0;

  function raw(
    args: readonly string[],
    input: string | Uint8Array = '',
    environment: Readonly<Record<string, string>> = {},
  ): Promise<Buffer> {
    return runGit(path, args, input, environment);
  }

  await makeBareRepository(path, 'main', '[uploadpack]\n\tallowAnySHA1InWant = true\n');
  const writer = createCommitWriter(path);
  return {
    path,
    url: `file://${path}`,
    raw,
    async commit(spec) {
      made += 1;
      const ref = spec.ref ?? 'refs/heads/main';
      const present = spec.parents === undefined ? await readRef(path, ref) : undefined;
      const parents = spec.parents ?? (present === undefined ? [] : [present]);
      const who = `${WHO} ${spec.date ?? FIRST_DATE + made * 60} +0000`;
      const written =
        spec.rawFiles === undefined
          ? await writer.write({ parents, files: plainFiles(spec), message: spec.message ?? MESSAGE, who })
          : undefined;
      if (written !== undefined) {
        if (!(await writeRef(path, ref, written))) await raw(['update-ref', ref, written]);
        return written;
      }
      return (await raw(FAST_IMPORT, importStream(spec, ref, parents, who))).toString().trim();
    },
    git: async (...args) => (await raw(args)).toString().replace(/\n$/, ''),
    tip: async ref => (await raw(['rev-parse', '--verify', '--end-of-options', ref])).toString().trim(),
    remove: () => rm(parent, { recursive: true, force: true }),
    [Symbol.asyncDispose]: () => rm(parent, { recursive: true, force: true }),
  };
}

/** Keeps what it made in a pack: to unpack it takes another process. Prints what a stream asks for with `get-mark`. */
export const FAST_IMPORT = [
  '-c',
  'fastimport.unpackLimit=1',
  'fast-import',
  '--quiet',
  '--force',
  '--date-format=raw',
];

const WHO = 'Test Author <author@example.org>';
const MESSAGE = 'change\n';

function plainFiles({
  files = {},
  isScript = () => false,
}: CommitSpec): readonly (readonly [string, string | null, boolean])[] {
  return Object.entries(files).map(([name, content]) => [name, content, isScript(name)]);
}

function importStream(spec: CommitSpec, ref: string, parents: readonly string[], who: string): Buffer {
  const message = spec.message ?? MESSAGE;
  const parts: (string | Buffer)[] = [
    // Without parents the commit is a root, regardless of the ref.
    parents.length === 0 ? `reset ${ref}\n` : '',
    `commit ${ref}\nmark :1\nauthor ${who}\ncommitter ${who}\n`,
    `data ${Buffer.byteLength(message)}\n${message}\n`,
    ...parents.map((parent, index) => `${index === 0 ? 'from' : 'merge'} ${parent}\n`),
  ];
  const named = Object.entries(spec.files ?? {}).map(
    ([path, content]) => [Buffer.from(path), content] as const,
  );
  for (const [path, content] of [...named, ...(spec.rawFiles ?? [])]) {
    const quoted = quotedPath(path);
    const mode = spec.isScript?.(path.toString()) ? '100755' : '100644';
    if (content === null) parts.push(`D ${quoted}\n`);
    else parts.push(`M ${mode} inline ${quoted}\ndata ${Buffer.byteLength(content)}\n`, content, '\n');
  }
  parts.push('\nget-mark :1\n');
  return Buffer.concat(parts.map(part => Buffer.from(part)));
}

/** fast-import's C-style quoting. */
function quotedPath(path: Buffer): string {
  const bytes = [...path].map(byte => {
    const plain = byte > 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c;
    return plain ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`;
  });
  return `"${bytes.join('')}"`;
}

/** Plain git, without the configuration of the user who runs the tests. @throws Error with stderr when it fails. */
export async function runGit(
  cwd: string,
  args: readonly string[],
  input: string | Uint8Array = '',
  environment: Readonly<Record<string, string>> = {},
): Promise<Buffer> {
  const child = startAside({
    file: 'git',
    args,
    cwd,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: '/dev/null',
      LC_ALL: 'C',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_AUTHOR_NAME: 'Test Author',
      GIT_AUTHOR_EMAIL: 'author@example.org',
      GIT_COMMITTER_NAME: 'Test Author',
      GIT_COMMITTER_EMAIL: 'author@example.org',
      ...environment,
    },
  });
  child.stdin.end(input);
  const [stdout, stderr, end] = await Promise.all([buffer(child.stdout), text(child.stderr), child.ended]);
  if (end.kind === 'exited' && end.code === 0) return stdout;
  throw new Error(`git ${args.join(' ')}: ${stderr} (${JSON.stringify(end)})`);
}

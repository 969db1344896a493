/** Determines, by trying, how jobs are isolated on this host: the best way whose self-test passes. See `sandbox.ts`. */
import { constants } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sha256 } from '../../lib/ids.ts';
import type { Spawner } from '../spawner/spawner.ts';
import { closedDirectory, type FoundRuntime, findProgram, findRuntime, stagePoint } from './find-runtime.ts';
import { type Isolation, type Sandbox, type SandboxFacts, sandboxOf } from './sandbox.ts';
import { seccompFilter } from './seccomp/seccomp-filter.ts';
import { selfTest } from './self-test.ts';
import { mountTable, type Stage } from './stage.ts';

/** From the options of the executor; the rest is found by trying. */
export interface SandboxOptions {
  /** `auto`: isolate if possible, else run without and report it; `bubblewrap`: isolate or refuse to start; `none`: do not. */
  readonly mode: 'auto' | 'bubblewrap' | 'none';
  /** Absolute; created when missing. */
  readonly jobDir: string;
  /** Root of the repository cache, absolute; created when missing. */
  readonly gitDir: string;
  /** `PATH` of the service: used to find bubblewrap, and by jobs without a sandbox. */
  readonly path: string;
  /** More host directories that every job may read. */
  readonly readOnlyPaths: readonly string[];
  /** User id of the job in slot 0 (`job-users.ts`), the others follow; null: the service is not root, jobs are its own user. */
  readonly firstUser: number | null;
  /** Slots with a user of their own; those beyond share them. Default: all. */
  readonly userCount?: number;
  /** Sandboxes listen for their jobs (`relay/`): Node is mounted into them. Default false. */
  readonly listen?: boolean;
  readonly spawner: Spawner;
}

/** The sandbox was required (`[executor] sandbox = bubblewrap`) and does not work here. */
class SandboxUnavailable extends Error {
  override readonly name = 'SandboxUnavailable';
}

/** @throws SandboxUnavailable in mode `bubblewrap` when it does not work, with the reason and the remedy. */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  await mkdir(options.jobDir, { recursive: true });
  // Users of jobs pass through to their own directories; they cannot list the others.
  if (isRoot(options)) await chmod(options.jobDir, 0o711);
  await mkdir(options.gitDir, { recursive: true });
  if (options.mode === 'none') return unsandboxed(options, 'switched off by [executor] sandbox = none');
  const found = await findRuntime(options.spawner, options.path, options.readOnlyPaths);
  const tried = found.kind === 'absent' ? found.because : await firstThatHolds(options, found);
  if (typeof tried !== 'string') return tried;
  if (options.mode === 'auto') return unsandboxed(options, tried);
  throw new SandboxUnavailable(
    `[executor] sandbox = bubblewrap: ${tried}; install or allow bubblewrap (user namespaces), or set sandbox = none to run jobs without isolation`,
  );
}

/** @returns the sandbox, or why even the simplest way does not work. */
async function firstThatHolds(
  options: SandboxOptions,
  found: FoundRuntime & { kind: 'found' },
): Promise<Sandbox | string> {
  const reasons = new Set<string>();
  const etc = join(options.jobDir, '.etc');
  await writeEtc(etc);
  const node = options.listen === true ? await reachableNode(options) : null;
  for (const candidate of await candidates(options)) {
    const sandbox = sandboxOf({
      ...described(found.version, candidate, [...reasons]),
      isolation: { kind: 'bubblewrap', runtime: found.runtime, etc, node, ...candidate },
      jobDir: options.jobDir,
      gitDir: options.gitDir,
      open: await isOpen(options),
      firstUser: options.firstUser,
      userCount: options.userCount ?? Number.POSITIVE_INFINITY,
      path: options.path,
    });
    const { disableUserns } = found.runtime;
    const failure = await selfTest(sandbox, options.spawner, {
      disableUserns,
      seccomp: candidate.seccomp !== null,
    });
    if (failure === undefined) return sandbox;
    reasons.add(failure);
  }
  return `the self-test of bubblewrap ${found.version} failed: ${[...reasons].join('; then, with less: ')}`;
}

type Candidate = Pick<Isolation & { kind: 'bubblewrap' }, 'stage' | 'overlays' | 'seccomp'>;

/** Best first: isolation counts more than convenience. */
async function candidates(options: SandboxOptions): Promise<Candidate[]> {
  const places = await candidatePlaces(options);
  const filter = await writeSeccompFilter(options.jobDir);
  return [...(filter === null ? [] : [filter]), null].flatMap(seccomp =>
    places.map(place => ({ ...place, seccomp })),
  );
}

async function candidatePlaces(options: SandboxOptions): Promise<Omit<Candidate, 'seccomp'>[]> {
  const { jobDir, gitDir } = options;
  const point = await stagePoint([jobDir, gitDir, process.execPath]);
  const direct = { stage: null, overlays: false };
  if (point === undefined) return [direct];
  const parts = { point, jobDir, gitDir, asRoot: isRoot(options) };
  const stage: Stage = { ...parts, table: await rewrite(join(jobDir, '.stage'), mountTable(parts)) };
  return [{ stage, overlays: true }, ...(stage.asRoot ? [{ stage, overlays: false }] : []), direct];
}

/** @returns its path; null: there is none for this architecture. */
async function writeSeccompFilter(jobDir: string): Promise<string | null> {
  const filter = seccompFilter();
  if (filter === undefined) return null;
  return rewrite(join(jobDir, '.seccomp'), filter);
}

/** A new file, in place of one that an earlier service left. @returns its path. */
async function rewrite(path: string, content: string | Uint8Array): Promise<string> {
  await rm(path, { force: true });
  await writeFile(path, content, { mode: 0o644 });
  return path;
}

/** @param reasons why better ones do not work. */
function described(
  version: string,
  { stage, overlays, seccomp }: Candidate,
  reasons: readonly string[],
): Pick<SandboxFacts, 'report' | 'walls'> {
  const how = overlays ? ' with overlay workspaces' : stage === null ? '' : ' on a private stage';
  const why = reasons[0] ?? `no filter for ${process.arch}`;
  const calls = seccomp === null ? `, system calls NOT filtered (${why})` : ', system calls filtered';
  return {
    report: `sandbox: bubblewrap ${version}${how}${calls}, self-test passed`,
    walls: [
      { name: 'sandbox', state: 'stands', text: `bubblewrap ${version}${how}` },
      seccomp === null
        ? { name: 'system-calls', state: 'missing', text: why }
        : { name: 'system-calls', state: 'stands', text: 'seccomp filter' },
    ],
  };
}

/** The running Node; a copy where the users of jobs cannot reach it. */
async function reachableNode(options: SandboxOptions): Promise<string> {
  const { execPath } = process;
  if (!isRoot(options) || closedDirectory(dirname(execPath)) === undefined) return execPath;
  const copy = join(options.jobDir, '.node');
  await rm(copy, { force: true });
  await copyFile(execPath, copy, constants.COPYFILE_FICLONE);
  await chmod(copy, 0o755);
  return copy;
}

/** The only user and group a job sees besides the owners of the host's files. */
async function writeEtc(etc: string): Promise<void> {
  await mkdir(etc, { recursive: true });
  await writeFile(
    join(etc, 'passwd'),
    'job:x:1000:1000:job:/home/job:/bin/sh\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n',
  );
  await writeFile(join(etc, 'group'), 'job:x:1000:\nnogroup:x:65534:\n');
}

async function unsandboxed(options: SandboxOptions, because: string): Promise<Sandbox> {
  const root = isRoot(options);
  const prlimit = (await findProgram('prlimit', options.path)) ?? null;
  const isolation: Isolation = { kind: 'none', prlimit };
  const closed = root ? closedDirectory(options.jobDir) : undefined;
  const jobDir = closed === undefined ? options.jobDir : await openJobDir(options.jobDir);
  const moved =
    closed === undefined ? '' : `; builds run in ${jobDir}, because ${closed} is closed to the users of jobs`;
  const state = options.mode === 'none' ? 'off' : 'missing';
  return sandboxOf({
    walls: [
      { name: 'sandbox', state, text: because },
      { name: 'system-calls', state, text: 'no sandbox' },
    ],
    report: `sandbox: NONE, jobs can do what ${root ? 'an ordinary user' : 'this service'} can do on this host (${because})${moved}`,
    isolation,
    jobDir,
    gitDir: options.gitDir,
    open: true,
    firstUser: options.firstUser,
    userCount: options.userCount ?? Number.POSITIVE_INFINITY,
    path: options.path,
  });
}

/**
 * Another place for build directories that users of jobs can reach, always the same for one `job_dir`. A path that another
 * user has created there is refused.
 */
async function openJobDir(jobDir: string): Promise<string> {
  const path = join(tmpdir(), `gatehouse-jobs-${sha256(jobDir).slice(0, 12)}`);
  await mkdir(path, { recursive: true, mode: 0o711 });
  const made = await lstat(path);
  if (!made.isDirectory() || made.uid !== process.geteuid?.()) {
    throw new SandboxUnavailable(
      `${path} exists and is not a directory of ours; remove it, or set [executor] job_dir to a directory other users can pass through`,
    );
  }
  const closed = closedDirectory(path);
  if (closed !== undefined) {
    await rm(path, { recursive: true, force: true });
    throw new SandboxUnavailable(
      `jobs cannot enter ${closed}; set [executor] job_dir to a directory other users can pass through (chmod o+x)`,
    );
  }
  return path;
}

async function isOpen(options: SandboxOptions): Promise<boolean> {
  if (!isRoot(options)) return true;
  const closed = [options.jobDir, options.gitDir].map(path => closedDirectory(path));
  return closed.every(path => path === undefined);
}

function isRoot(options: SandboxOptions): boolean {
  return options.firstUser !== null;
}

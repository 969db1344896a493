/**
 * The one place that starts git.
 *
 * Every call is an argv array (no shell), in the cleared environment of `environment.ts`, in a process group of its own
 * that is killed as a whole at the deadline, with a bound on what it may print. Failures are returned, not thrown:
 *
 *     const git = createGit({ identity });
 *     const result = await git.run(['rev-parse', '--verify', '--end-of-options', ref], { gitDir });
 *     if (result.kind !== 'ok') …   // 'failed' with exit code and stderr, 'timeout', 'too-much-output', 'aborted'
 *
 * Callers in this room put names from outside behind `--end-of-options` or check them with `ref-name.ts`.
 */
import { type GitEnvironmentOptions, gitEnvironment, hasProxy, type Identity } from './environment.ts';
import { type GitProcess, type StartProcess, startHere } from './git-process.ts';
import { DEFAULT_GIT_MEMORY, memoryLimited } from './memory-limit.ts';
import { DEFAULT_PROTOCOLS, type Remote } from './remote.ts';

/** How all processes of one {@link Git} run. Services take them from section `[merger]`. */
export interface GitOptions {
  /** Author and committer of all commits and notes. */
  readonly identity: Identity;
  /** Name or path of the program; default `git`. */
  readonly program?: string;
  /** Protocols git may speak; default {@link DEFAULT_PROTOCOLS}. */
  readonly protocols?: readonly string[];
  /** For one call, in milliseconds; default 300 000 as Zuul's `git_timeout`. */
  readonly timeoutMs?: number;
  /** Between SIGTERM, at which git removes its lock files, and SIGKILL; default 2 000 milliseconds. */
  readonly graceMs?: number;
  /** Of one process; null: no limit. Default {@link DEFAULT_GIT_MEMORY}. */
  readonly memoryBytes?: number | null;
  /** HTTP transfers below this rate are given up; default 1000 bytes/s for 30 s. */
  readonly lowSpeedBytes?: number;
  readonly lowSpeedSeconds?: number;
  /** Source of the few variables git may inherit; default the environment of this process. */
  readonly inherited?: Readonly<Record<string, string | undefined>>;
  /** How processes are started; default: as children of this process. */
  readonly start?: StartProcess;
}

interface RunOptions {
  /** The repository (`GIT_DIR`); absent: git searches from `cwd`, or needs none. */
  readonly gitDir?: string;
  /** Default: `gitDir`, else `/`. */
  readonly cwd?: string;
  /** Credentials for the remote this call talks to. */
  readonly remote?: Remote;
  /** Written to stdin, which is then closed. */
  readonly input?: string | Uint8Array;
  /** Default: that of {@link GitOptions}. */
  readonly timeoutMs?: number;
  /** Bytes of stdout beyond which the process is killed; default 64 MiB. */
  readonly maxOutput?: number;
  readonly signal?: AbortSignal;
}

/** The ends a caller has to expect. A git that cannot be started, or is lost with its helper, throws instead. */
export type GitResult =
  | { readonly kind: 'ok'; readonly stdout: Buffer; readonly stderr: string }
  | { readonly kind: 'failed'; readonly exitCode: number; readonly stdout: Buffer; readonly stderr: string }
  | { readonly kind: 'timeout'; readonly seconds: number }
  | { readonly kind: 'too-much-output'; readonly limit: number }
  | { readonly kind: 'aborted' };

/** Starts git for any number of repositories. */
export interface Git {
  readonly identity: Identity;
  /** Schemes of URLs that its processes may use. */
  readonly protocols: readonly string[];
  /** Of one process; null: no limit. */
  readonly memoryBytes: number | null;
  /** The environment of its processes names a proxy for HTTP. */
  readonly isProxied: boolean;
  /** Runs to its end. @throws Error when the program cannot be started. */
  run(args: readonly string[], options?: RunOptions): Promise<GitResult>;
  /** A process for questions and answers over its pipes; ends when its stdin is closed. `wrapper` runs it, e.g. `stdbuf -o0`. */
  start(
    args: readonly string[],
    options: { readonly gitDir: string; readonly wrapper?: readonly string[] },
  ): GitProcess;
  /** Processes started so far. */
  spawns(): number;
}

const DEFAULT_TIMEOUT_MS = 300_000;
const DEFAULT_MAX_OUTPUT = 64 * 1024 * 1024;
const MAX_STDERR = 64 * 1024;
const DEFAULT_GRACE_MS = 2_000;
/** Of `prlimit`, for a program that is not there or may not be started. */
const NOT_EXECUTED = 127;

/** Starts nothing yet. Where `prlimit` is missing there is no limit of memory. */
export function createGit(options: GitOptions): Git {
  const program = options.program ?? 'git';
  const environment: GitEnvironmentOptions = {
    identity: options.identity,
    protocols: options.protocols ?? DEFAULT_PROTOCOLS,
    lowSpeedBytes: options.lowSpeedBytes ?? 1000,
    lowSpeedSeconds: options.lowSpeedSeconds ?? 30,
    inherited: options.inherited ?? process.env,
  };
  const { memoryBytes = DEFAULT_GIT_MEMORY } = options;
  const bounds = memoryLimited(memoryBytes, environment.inherited.PATH ?? '');
  const startProcess = options.start ?? startHere;
  let spawns = 0;

  function launch(
    command: readonly string[],
    gitDir: string | undefined,
    cwd: string | undefined,
    remote?: Remote,
  ) {
    const [file = program, ...args] = [...bounds, ...command];
    spawns += 1;
    return startProcess({
      file,
      args,
      cwd: cwd ?? gitDir ?? '/',
      env: gitEnvironment(environment, gitDir, remote),
    });
  }

  return {
    identity: environment.identity,
    protocols: environment.protocols,
    memoryBytes: bounds.length === 0 ? null : memoryBytes,
    isProxied: hasProxy(environment.inherited),
    spawns: () => spawns,
    start: (args, { gitDir, wrapper = [] }) => launch([...wrapper, program, ...args], gitDir, undefined),
    run(args, run = {}) {
      if (run.signal?.aborted) return Promise.resolve({ kind: 'aborted' });
      const child = launch([program, ...args], run.gitDir, run.cwd, run.remote);
      return collect(program, child, {
        ...run,
        timeoutMs: run.timeoutMs ?? options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
        graceMs: options.graceMs ?? DEFAULT_GRACE_MS,
      });
    },
  };
}

type Cut = Exclude<GitResult, { kind: 'ok' | 'failed' }>;

async function collect(
  program: string,
  child: GitProcess,
  run: RunOptions & { readonly timeoutMs: number; readonly graceMs: number },
): Promise<GitResult> {
  const limit = run.maxOutput ?? DEFAULT_MAX_OUTPUT;
  const stdout: Buffer[] = [];
  let size = 0;
  let stderr = '';
  let cut: Cut | undefined;
  let killTimer: NodeJS.Timeout | undefined;

  function stop(reason: Cut): void {
    if (cut !== undefined) return;
    cut = reason;
    child.kill('SIGTERM');
    killTimer = setTimeout(() => child.kill('SIGKILL'), run.graceMs);
  }

  const deadline = setTimeout(() => stop({ kind: 'timeout', seconds: run.timeoutMs / 1000 }), run.timeoutMs);
  const abort = () => stop({ kind: 'aborted' });
  run.signal?.addEventListener('abort', abort, { once: true });
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > limit) stop({ kind: 'too-much-output', limit });
    else stdout.push(chunk);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (stderr.length < MAX_STDERR) stderr += text;
  });
  // git may end before it has read its input; the exit code says why.
  child.stdin.on('error', () => undefined);
  child.stdin.end(run.input ?? '');

  const end = await child.ended;
  clearTimeout(deadline);
  clearTimeout(killTimer);
  run.signal?.removeEventListener('abort', abort);
  if (end.kind === 'not-started') throw new Error(`cannot start ${program}: ${end.reason}`);
  if (cut !== undefined) return cut;
  if (end.kind === 'lost') throw new Error(`${program} was lost: ${end.reason}`);
  const exitCode = end.kind === 'exited' ? end.code : -1;
  if (exitCode === NOT_EXECUTED && stderr.startsWith('prlimit: failed to execute'))
    throw new Error(`cannot start ${stderr.trim().replace(/^\S+ failed to execute /, '')}`);
  const said = { stdout: Buffer.concat(stdout), stderr };
  return exitCode === 0 ? { kind: 'ok', ...said } : { kind: 'failed', exitCode, ...said };
}

/** Short git commands on checkouts, started by the spawner as the user who owns the checkout. */
import { gitEnvironment } from '../git/process/environment.ts';
import type { HostTrouble } from '../model/host-trouble.ts';
import { endText } from './sandbox/find-runtime.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import type { Overlay, Owner } from './sandbox/stage.ts';
import type { ProcessEnd } from './spawner/protocol.ts';
import type { Spawner } from './spawner/spawner.ts';

/** A work tree and the objects it is filled from: where one command works. */
export interface GitPlace {
  /** Host path of the work tree; its repository is `.git` in it. */
  readonly tree: string;
  /** Host path of the bare repository whose objects are used. */
  readonly gitDir: string;
}

/** Commands of the executor itself, none of a job's: at most five minutes each. */
export interface OwnProcesses {
  /** @throws WorkspaceFailure when git fails. */
  git(place: GitPlace, args: readonly string[], owner: Owner | null): Promise<void>;
  /**
   * Packs all that the repository of the tree leads to, with what `gitDir` has of it, into the empty object directory `objects`.
   *
   * @param mostBytes of the pack. @throws WorkspaceFailure when git fails, or that is not enough.
   */
  pack(place: GitPlace, objects: string, owner: Owner | null, mostBytes: number): Promise<void>;
  /** Copies what a build sees of an overlay into an empty directory below `job_dir`. @throws WorkspaceFailure when it fails. */
  merged(overlay: Overlay, to: string): Promise<void>;
  /**
   * A program of the system, as the service's own user.
   *
   * @param input what it reads from descriptor 3; undefined: it has none.
   * @throws WorkspaceFailure when it fails.
   */
  system(argv: readonly string[], input?: string): Promise<string>;
}

/** The workspace could not be prepared: not the job's fault, so the build is tried again. */
export class WorkspaceFailure extends Error {
  override readonly name = 'WorkspaceFailure';
  /** Set when the code host caused it. */
  readonly trouble: HostTrouble | undefined;
  constructor(message: string, trouble?: HostTrouble) {
    super(message);
    this.trouble = trouble;
  }
}

const TIMEOUT_MS = 300_000;
const GRACE_MS = 2_000;

const ENVIRONMENT = {
  // These commands never use the network.
  protocols: [],
  identity: { name: 'Gatehouse', email: 'gatehouse@localhost' },
  lowSpeedBytes: 1000,
  lowSpeedSeconds: 30,
  inherited: {},
};

/** Threads for reading the index cost more than they save at these sizes, and builds run in parallel. Where HEAD was is nothing to a job. */
const SETTINGS = ['-c', 'index.threads=false', '-c', 'core.logAllRefUpdates=false'];

/** One per executor. @param sandbox places the commands where they reach the checkouts, on its stage if need be. */
export function createOwnProcesses(spawner: Spawner, sandbox: Sandbox): OwnProcesses {
  async function finished(end: Promise<ProcessEnd>, what: string): Promise<string> {
    const result = await end;
    if (result.kind !== 'ended' || result.code !== 0)
      throw new WorkspaceFailure(`${what} failed: ${endText(result)}`);
    return result.output;
  }
  const common = {
    output: { kind: 'capture', limit: 65_536 },
    timeoutMs: TIMEOUT_MS,
    graceMs: GRACE_MS,
  } as const;

  return {
    async git({ tree, gitDir }, args, owner) {
      const seen = sandbox.seen(tree);
      const env = {
        ...gitEnvironment(ENVIRONMENT, `${seen}/.git`, undefined),
        GIT_WORK_TREE: seen,
        GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(`${sandbox.seen(gitDir)}/objects`),
      };
      const launch = sandbox.own(['git', ...SETTINGS, ...args], env, owner);
      await finished(spawner.start({ ...launch, ...common }).ended, `git ${args[0] ?? ''} in ${tree}`);
    },
    async pack({ tree, gitDir }, objects, owner, mostBytes) {
      const git = `${sandbox.seen(tree)}/.git`;
      const env = {
        ...gitEnvironment(ENVIRONMENT, git, undefined),
        GIT_OBJECT_DIRECTORY: sandbox.seen(objects),
        GIT_ALTERNATE_OBJECT_DIRECTORIES: [`${git}/objects`, `${sandbox.seen(gitDir)}/objects`]
          .map(quoted)
          .join(':'),
      };
      const pack = ['git', 'pack-objects', '--quiet', '--all', '--reflog', '--indexed-objects'];
      const argv = [...pack, '--delta-base-offset', `${sandbox.seen(objects)}/pack/pack`];
      const limited = Number.isFinite(mostBytes) ? fileLimit(mostBytes, argv) : argv;
      await finished(
        spawner.start({ ...sandbox.own(limited, env, owner), ...common }).ended,
        `git pack-objects in ${tree}`,
      );
    },
    async merged(overlay, to) {
      await finished(
        spawner.start({ ...sandbox.merged(overlay, to), ...common }).ended,
        `the copy of ${overlay.at}`,
      );
    },
    system: (argv, input) =>
      finished(
        spawner.start({
          ...common,
          ...(input === undefined ? {} : { secrets: input }),
          argv,
          env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' },
          cwd: '/',
          user: null,
          reach: { kind: 'group' },
        }).ended,
        argv[0] ?? '',
      ),
  };
}

/** POSIX: in blocks of 512 bytes. */
function fileLimit(bytes: number, argv: readonly string[]): readonly string[] {
  const blocks = String(Math.max(1, Math.floor(bytes / 512)));
  return ['/bin/sh', '-c', 'ulimit -f "$1" && shift && exec "$@"', 'sh', blocks, ...argv];
}

/** The variable is a list separated by colons; a quoted element may hold any character. */
function quoted(path: string): string {
  return `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** Short git commands on checkouts, started by the spawner as the user who owns the checkout. */
import { gitEnvironment } from '../git/process/environment.ts';
import type { HostTrouble } from '../model/host-trouble.ts';
import { endText } from './sandbox/find-runtime.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import type { Owner } from './sandbox/stage.ts';
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
  /** A program of the system, as the service's own user. @throws WorkspaceFailure when it fails. */
  system(argv: readonly string[]): Promise<string>;
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
      // Threads for reading the index cost more than they save at these sizes, and builds run in parallel.
      const launch = sandbox.own(['git', '-c', 'index.threads=false', ...args], env, owner);
      await finished(spawner.start({ ...launch, ...common }).ended, `git ${args[0] ?? ''} in ${tree}`);
    },
    system: argv =>
      finished(
        spawner.start({
          ...common,
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

/** The variable is a list separated by colons; a quoted element may hold any character. */
function quoted(path: string): string {
  return `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

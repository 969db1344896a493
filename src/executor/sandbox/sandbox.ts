/**
 * How processes of a build are started so that they can do no harm: one of three ways, chosen once at start by trying.
 *
 *   bubblewrap on a stage   everything: overlay workspaces, private state directories (see `stage.ts`)
 *   bubblewrap              the same isolation; checkouts are made anew for every build
 *   none                    no isolation, reported plainly; as root the job at least gets a user of its own, never root
 *
 *     const sandbox = await openSandbox({ mode: 'auto', jobDir, gitDir, firstUser: null, spawner });
 *     log.info(sandbox.report);   // sandbox: bubblewrap 0.8.0 with overlay workspaces, system calls filtered, …
 *     spawner.start({ ...sandbox.job(command, slot), output, timeoutMs, graceMs });
 */
import { join } from 'node:path';
import type { Wall } from '../../model/wall.ts';
import { type BuildPlaces, TOOLS } from '../build-places.ts';
import { listeningArgv } from '../relay/listen-in-sandbox.ts';
import { hostSecretFile } from '../secret-file.ts';
import {
  MARK,
  type ProcessSpec,
  type StageSpec,
  seccompDescriptor,
  secretsDescriptor,
} from '../spawner/protocol.ts';
import {
  bubblewrapArgv,
  INSIDE,
  INSIDE_PATH,
  type Limits,
  limited,
  type Runtime,
} from './bubblewrap-argv.ts';
import { closedDirectory } from './find-runtime.ts';
import { firstPart, type Overlay, type Owner, onStage, type Stage, secondPart, stagedArgv } from './stage.ts';

/** The way that `open-sandbox.ts` has chosen for all builds of the executor. */
export type Isolation =
  | {
      readonly kind: 'bubblewrap';
      readonly runtime: Runtime;
      readonly etc: string;
      readonly stage: Stage | null;
      readonly overlays: boolean;
      /** Host path of the compiled filter of system calls; null: none for this architecture, or the kernel accepts none. */
      readonly seccomp: string | null;
      /** Host path of a Node that users of jobs can reach; null: no sandbox has to listen. */
      readonly node: string | null;
    }
  | { readonly kind: 'none'; readonly prlimit: string | null };

/** A job's paths: inside the sandbox, or on the host when there is none. */
export interface JobView {
  readonly work: string;
  readonly info: string;
  readonly home: string;
  readonly tmp: string;
  readonly path: string;
  /** The file with the secrets of a playbook that has some. */
  readonly secrets: string;
  /** Below it, one directory per playbook project. */
  readonly playbooks: string;
  /** Where the objects of a cached repository are visible; `gitDir` is the host's path of the bare repository. */
  objects(canonicalName: string, gitDir: string): string;
}

/** One process of a job, by host paths; {@link Sandbox.job} translates them. */
export interface JobCommand {
  readonly places: BuildPlaces;
  readonly overlays: readonly Overlay[];
  /** Playbook trees and object directories, by host path. */
  readonly readOnly: readonly { readonly from: string; readonly to: string }[];
  readonly argv: readonly string[];
  readonly environment: { readonly [name: string]: string };
  /** In the job's view. */
  readonly cwd: string;
  readonly network: boolean;
  /** Listen on its loopback before it begins, where it has one of its own ({@link Sandbox.ownLoopback}). */
  readonly listen: boolean;
  /** Content of its file of secrets; in memory, for its user alone. With it a sandbox has a home of its own, too. Null: it has none. */
  readonly secrets: string | null;
  readonly limits: Limits;
  /** Name of the build's directory: the next executor kills processes with this mark that have lost theirs ({@link MARK}). */
  readonly mark: string;
}

type Launch = Pick<
  ProcessSpec,
  'argv' | 'env' | 'cwd' | 'user' | 'reach' | 'handsOver' | 'seccomp' | 'secrets'
>;

/** A process of a job, and how a stage that is ready becomes the same. */
interface JobLaunch extends Launch {
  /** What the shell of {@link Sandbox.stage} does; undefined: such a job starts without. */
  readonly script: string | undefined;
}

/** Turns commands into what the spawner starts; starts nothing itself. */
export interface Sandbox {
  /** One line: what isolates jobs here, or that nothing does and why. */
  readonly report: string;
  readonly isolated: boolean;
  /** The sandbox's entries in the list of limits and isolation. */
  readonly walls: readonly Wall[];
  /** A script may have a limited number of processes. */
  readonly limitsProcesses: boolean;
  /** Workspaces may be overlays of kept checkouts. */
  readonly overlays: boolean;
  /** Place of build directories: the configured `job_dir`, unless jobs could not enter it. */
  readonly jobDir: string;
  /** Whether a job can read `path` of the repository cache; if not it gets a copy. */
  reaches(path: string): boolean;
  /** The Unix user of the builds in a slot; null: the service's own. */
  ownerOf(slot: number): Owner | null;
  view(places: BuildPlaces): JobView;
  /** Whether such a job has a loopback that is not the host's. */
  ownLoopback(command: Pick<JobCommand, 'network'>): boolean;
  /** What can be started before a job is known; null: nothing. */
  readonly stage: Omit<StageSpec, 'cgroups'> | null;
  /** @param owner from {@link Sandbox.ownerOf}. */
  job(command: JobCommand, owner: Owner | null): JobLaunch;
  /** A process of our own (git) that works on the job's future files, as the job's user. */
  own(argv: readonly string[], env: ProcessSpec['env'], owner: Owner | null): Launch;
  /** Copies what a build sees of an overlay to an existing directory below `jobDir`, with its owners. Only where {@link overlays}. */
  merged(overlay: Overlay, to: string): Launch;
  /** The path at which {@link own} processes see a host path. */
  seen(path: string): string;
}

const OWN_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Decided by `open-sandbox.ts`; tests pass their own. */
export interface SandboxFacts {
  readonly report: string;
  readonly walls: readonly Wall[];
  readonly isolation: Isolation;
  readonly jobDir: string;
  readonly gitDir: string;
  /** Users of jobs can reach everything below `jobDir` and `gitDir` as it is; our own processes need no stage. */
  readonly open: boolean;
  /** User id of the job in slot 0, the others follow; null: the service is not root, jobs are its own user. */
  readonly firstUser: number | null;
  /** As in `SandboxOptions`. */
  readonly userCount: number;
  /** `PATH` of the service, for jobs without a sandbox. */
  readonly path: string;
}

/** Tries nothing: that the isolation holds is for the self-test to prove. */
export function sandboxOf(facts: SandboxFacts): Sandbox {
  const { isolation } = facts;
  const stage = isolation.kind === 'bubblewrap' ? isolation.stage : null;
  const { firstUser, userCount } = facts;
  const ownStage = facts.open ? null : stage;
  return {
    report: facts.report,
    isolated: isolation.kind === 'bubblewrap',
    walls: facts.walls,
    // Per user where nothing isolates: only a user of its own may be limited without affecting others.
    limitsProcesses:
      isolation.kind === 'bubblewrap'
        ? isolation.runtime.prlimit !== null
        : isolation.prlimit !== null && firstUser !== null,
    overlays: isolation.kind === 'bubblewrap' && isolation.overlays,
    jobDir: facts.jobDir,
    reaches(path) {
      // The stage opens the path above the cache; the job's user must still get through the cache itself.
      return firstUser === null || closedDirectory(path, stage === null ? '/' : facts.gitDir) === undefined;
    },
    ownerOf(slot) {
      if (firstUser === null) return null;
      const id = firstUser + (slot % userCount);
      return { uid: id, gid: id };
    },
    view: places => (isolation.kind === 'none' ? hostView(places, facts.path) : INSIDE_VIEW),
    ownLoopback: ({ network }) => isolation.kind === 'bubblewrap' && !network,
    stage: readyStage(isolation),
    job: (command, owner) =>
      isolation.kind === 'none'
        ? { ...plainLaunch(command, owner, isolation.prlimit), script: undefined }
        : sandboxedLaunch(isolation, command, owner),
    own(argv, env, owner) {
      const reach = { kind: 'group' } as const;
      const common = { env: { PATH: OWN_PATH, ...env }, cwd: '/', reach };
      return ownStage === null
        ? { ...common, argv, user: owner }
        : { ...common, argv: stagedArgv(ownStage, [], owner, argv), user: null };
    },
    merged(overlay, to) {
      if (stage === null) throw new Error('there are no overlays without a stage');
      const keep = ['--no-dereference', '--preserve=mode,ownership,timestamps,links'];
      const [from, at] = [`${onStage(stage, overlay.at)}/.`, onStage(stage, to)];
      const argv = stagedArgv(stage, [overlay], null, ['cp', '-R', ...keep, '--', from, at]);
      return { argv, env: { PATH: OWN_PATH }, cwd: '/', user: null, reach: { kind: 'group' } };
    },
    seen: path => (ownStage === null ? path : onStage(ownStage, path)),
  };
}

const INSIDE_VIEW: JobView = {
  work: INSIDE.work,
  info: INSIDE.info,
  home: INSIDE.home,
  tmp: '/tmp',
  path: INSIDE_PATH,
  secrets: INSIDE.secrets,
  playbooks: INSIDE.playbooks,
  objects: canonicalName => `${INSIDE.git}/${canonicalName}/objects`,
};

function hostView(places: BuildPlaces, path: string): JobView {
  return {
    work: places.work,
    info: places.info,
    home: places.home,
    tmp: places.tmp,
    path: `${join(places.info, TOOLS)}:${path}`,
    secrets: hostSecretFile(places),
    playbooks: places.playbooks,
    objects: (_canonicalName, gitDir) => `${gitDir}/objects`,
  };
}

/** Where jobs pass a socket up there is none: Node makes the channel for that at the start of a process alone. */
function readyStage(isolation: Isolation): Sandbox['stage'] {
  if (isolation.kind === 'none' || isolation.stage === null || isolation.node !== null) return null;
  const { stage, seccomp } = isolation;
  return { ...firstPart(stage), env: { PATH: OWN_PATH }, ...(seccomp === null ? {} : { seccomp }) };
}

function sandboxedLaunch(
  isolation: Isolation & { kind: 'bubblewrap' },
  command: JobCommand,
  owner: Owner | null,
): JobLaunch {
  const { stage, node, seccomp } = isolation;
  const listens = command.listen && !command.network && node !== null;
  const handsOver = listens ? ({ handsOver: true } as const) : {};
  const seen = (path: string) => (stage === null ? path : onStage(stage, path));
  const argv = bubblewrapArgv(isolation.runtime, {
    ...command,
    work: seen(command.places.work),
    home: command.secrets === null ? seen(command.places.home) : null,
    info: seen(command.places.info),
    etc: seen(isolation.etc),
    readOnly: [...command.readOnly, ...(listens ? nodeTree(node) : [])].map(({ from, to }) => ({
      from: seen(from),
      to,
    })),
    seccomp: seccomp === null ? null : seccompDescriptor(handsOver),
    secrets:
      command.secrets === null ? null : secretsDescriptor({ ...handsOver, filtered: seccomp !== null }),
    argv: listens ? listeningArgv(nodeInside(node), command.argv) : command.argv,
  });
  // The environment of bubblewrap itself can be read in the sandbox as /proc/1/environ: it is nearly empty. By the mark, the id of
  // the build, the next executor finds a process that was orphaned before it had bound its life to ours.
  const mark = { [MARK]: command.mark };
  const common = {
    env: { PATH: OWN_PATH, ...mark },
    cwd: '/',
    reach: { kind: 'namespace' },
    ...handsOver,
    ...(seccomp === null ? {} : { seccomp }),
    ...(command.secrets === null ? {} : { secrets: command.secrets }),
  } as const;
  if (stage === null) return { ...common, argv, user: owner, script: undefined };
  const { overlays } = command;
  const unused = command.secrets === null ? [secretsDescriptor({ filtered: seccomp !== null })] : [];
  return {
    ...common,
    argv: stagedArgv(stage, overlays, owner, argv),
    user: null,
    // A shell does not read a zero byte.
    script: argv.some(word => word.includes('\0'))
      ? undefined
      : secondPart(stage, overlays, owner, { argv, env: mark, closed: unused }),
  };
}

/** Below `/usr` it is part of the runtime every sandbox has. */
function nodeInside(node: string): string {
  return node.startsWith('/usr/') ? node : INSIDE.node;
}

function nodeTree(node: string): JobCommand['readOnly'] {
  return nodeInside(node) === node ? [] : [{ from: node, to: INSIDE.node }];
}

function plainLaunch(command: JobCommand, owner: Owner | null, prlimit: string | null): Launch {
  // The number of processes is limited per user: only a user of its own may be limited without affecting others.
  const limits = owner === null ? [] : limited(prlimit, command.limits);
  return {
    argv: [...limits, ...command.argv],
    env: command.environment,
    cwd: command.cwd,
    user: owner,
    reach: { kind: owner === null ? 'marked' : 'user', mark: command.mark },
  };
}

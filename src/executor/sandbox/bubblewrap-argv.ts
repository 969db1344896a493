/**
 * The argument list of bubblewrap, which is the security model. Pure, so that its rules can be tested:
 *
 * - every namespace is unshared, no capability is kept, no nested user namespace can be made;
 * - what a process leaves in the work directory at `/build` and in the home directory is there for the next one of its build; `/tmp` and
 *   `/dev/shm` are memory of limited size that vanishes with the process, and so is the home of a process with secrets: it shows no other
 *   what it leaves there, and finds nothing there that others left for it to run;
 * - no destination lies below a place that persists: bubblewrap before 0.12 follows symbolic links a job made there to the host;
 * - of the host, only the runtime (`/usr`) and a short list of `/etc` are visible, read-only;
 * - the environment is cleared first;
 * - system calls that no build needs are refused (`seccomp/syscall-rules.ts`).
 */

/** Paths inside the sandbox. */
export const INSIDE = {
  work: '/build',
  info: '/gatehouse',
  playbooks: '/playbooks',
  git: '/git',
  /** Node, where it is not part of the runtime: see `relay/listen-in-sandbox.ts`. */
  node: '/run/gatehouse/node',
  /** Of a playbook that has some, and in memory: see `secret-file.ts`. */
  secrets: '/run/gatehouse/secrets.json',
  home: '/home/job',
} as const;

/** Gatehouse's tools first (`job-tools/`): a `gatehouse` of the host is not meant for jobs. */
export const INSIDE_PATH = `${INSIDE.info}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`;

const MEGABYTE = 1_048_576;
const TMP_BYTES = 512 * MEGABYTE;
const SHM_BYTES = 64 * MEGABYTE;
const HOME_BYTES = 128 * MEGABYTE;
const SOURCES = `${INSIDE.work}/src`;

/** Files of `/etc` that programs need to work at all; nothing here is secret. Missing ones are left out. */
const ETC = [
  'alternatives',
  'ca-certificates',
  'ca-certificates.conf',
  'crypto-policies',
  'debian_version',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'magic',
  'mime.types',
  'nsswitch.conf',
  'os-release',
  'pki/ca-trust',
  'pki/tls/certs',
  'protocols',
  'services',
  'ssl/certs',
  'ssl/openssl.cnf',
  'terminfo',
  'timezone',
];
/** In addition, for jobs with network. */
const ETC_NETWORK = ['gai.conf', 'host.conf', 'hosts', 'resolv.conf'];

/** What the host offers, the same for all jobs; found by `find-runtime.ts`. */
export interface Runtime {
  /** Path of bubblewrap. */
  readonly program: string;
  readonly disableUserns: boolean;
  /** The form of `/bin`, `/lib`, ... on this host: links into `/usr`, or directories. */
  readonly topLevel: readonly { readonly path: string; readonly linkTo: string | null }[];
  /** More host directories every job may read, e.g. `/opt/toolchain`. */
  readonly readOnly: readonly string[];
  /** Path inside of `prlimit`; null: process limits cannot be set. */
  readonly prlimit: string | null;
}

/** One process in the sandbox: what it runs and what it sees. */
export interface SandboxedCommand {
  /** Host (or stage) paths of the sources. */
  readonly work: string;
  readonly info: string;
  readonly etc: string;
  /** Null: one of its own, in memory. */
  readonly home: string | null;
  /** Trees visible read-only: playbooks below `/playbooks`, objects below `/git`. */
  readonly readOnly: readonly { readonly from: string; readonly to: string }[];
  readonly environment: { readonly [name: string]: string };
  readonly cwd: string;
  readonly network: boolean;
  readonly limits: Limits;
  /** Descriptor of the compiled filter of system calls; null: none. */
  readonly seccomp: number | null;
  /** Descriptor from which the file of secrets is read; null: none. */
  readonly secrets: number | null;
  readonly argv: readonly string[];
}

/** Of each process in the sandbox, `processes` of all together. */
export interface Limits {
  /** Processes and threads together. */
  readonly processes: number;
  readonly openFiles: number;
  /** Bytes one file may hold; null: no limit. */
  readonly fileBytes: number | null;
}

/** @returns program and arguments. Status goes to descriptor 3, which the caller must open. */
export function bubblewrapArgv(runtime: Runtime, command: SandboxedCommand): string[] {
  return [
    runtime.program,
    ...isolation(runtime, command.network),
    '--clearenv',
    ...Object.entries(command.environment).flatMap(([name, value]) => ['--setenv', name, value]),
    ...runtimeTree(runtime),
    ...etc(command),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...sizedTmpfs('/dev/shm', SHM_BYTES, '1777'),
    ...['--remount-ro', '/dev'],
    ...sizedTmpfs('/tmp', TMP_BYTES, '1777'),
    ...home(command),
    ...['--ro-bind', command.info, INSIDE.info],
    ...command.readOnly.flatMap(({ from, to }) => ['--ro-bind', from, to]),
    ...(command.secrets === null
      ? []
      : ['--perms', '0400', '--ro-bind-data', String(command.secrets), INSIDE.secrets]),
    ...['--bind', command.work, INSIDE.work],
    ...['--remount-ro', '/', '--chdir', command.cwd, '--json-status-fd', '3'],
    ...(command.seccomp === null ? [] : ['--seccomp', String(command.seccomp)]),
    '--',
    ...limited(runtime.prlimit, command.limits),
    ...command.argv,
  ];
}

function isolation({ disableUserns }: Runtime, network: boolean): string[] {
  return [
    '--unshare-all',
    '--unshare-user',
    ...(network ? ['--share-net'] : []),
    ...(disableUserns ? ['--disable-userns'] : []),
    ...['--new-session', '--die-with-parent', '--cap-drop', 'ALL'],
    ...['--uid', '1000', '--gid', '1000', '--hostname', 'build'],
  ];
}

function runtimeTree({ topLevel, readOnly }: Runtime): string[] {
  return [
    ...['--ro-bind', '/usr', '/usr'],
    ...topLevel.flatMap(({ path, linkTo }) =>
      linkTo === null ? ['--ro-bind', path, path] : ['--symlink', linkTo, path],
    ),
    ...readOnly.flatMap(path => ['--ro-bind', path, path]),
  ];
}

/** @param command `etc` holds the password and group files with no user but the job. */
function etc(command: SandboxedCommand): string[] {
  const names = command.network ? [...ETC, ...ETC_NETWORK] : ETC;
  return [
    ...names.flatMap(name => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`]),
    ...['passwd', 'group'].flatMap(name => ['--ro-bind', `${command.etc}/${name}`, `/etc/${name}`]),
  ];
}

/** In Zuul the home directory is the work directory: roles look for sources below it. */
function home({ home }: SandboxedCommand): string[] {
  return home === null
    ? [...sizedTmpfs(INSIDE.home, HOME_BYTES, '0755'), '--symlink', SOURCES, `${INSIDE.home}/src`]
    : ['--bind', home, INSIDE.home];
}

function sizedTmpfs(path: string, bytes: number, mode: string): string[] {
  return ['--size', String(bytes), '--perms', mode, '--tmpfs', path];
}

/**
 * Limits are set inside: the number of processes is then counted for this sandbox alone, not for all processes of the
 * service's user.
 */
export function limited(prlimit: string | null, limits: Limits): string[] {
  if (prlimit === null) return [];
  return [
    prlimit,
    `--nproc=${limits.processes}:${limits.processes}`,
    `--nofile=${limits.openFiles}:${limits.openFiles}`,
    '--core=0:0',
    ...(limits.fileBytes === null ? [] : [`--fsize=${limits.fileBytes}:${limits.fileBytes}`]),
    '--',
  ];
}

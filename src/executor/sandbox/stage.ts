/**
 * The stage: a private mount namespace in which everything a job needs is mounted before bubblewrap (or git) starts.
 *
 *     unshare --mount → mount table: tmpfs on <point>, <job_dir> and <git_dir> below it → overlays → setpriv → bwrap
 *
 * It has three benefits: overlay mounts, so that a checkout of any size costs nothing to copy; directories that only the
 * service may enter (a state directory of mode 0700) can still be given to an unprivileged job; and nothing to clean up,
 * because the mounts vanish with the last process, however it ends.
 *
 * As root the stage is built as root, then privileges are dropped to the job's user. Otherwise a user namespace makes us root of
 * mounts only.
 */

/** Where the stage is built and from what; the same for all builds of the executor. */
export interface Stage {
  /** An existing directory of the host that none of the sources lies below, e.g. `/mnt`. */
  readonly point: string;
  readonly jobDir: string;
  readonly gitDir: string;
  readonly asRoot: boolean;
  /** File with the {@link mountTable}, written once: one `mount` reads all of it, a third of the work of one for each line. */
  readonly table: string;
}

/** A kept checkout below, what the build writes above; mounted at the start of each playbook. */
export interface Overlay {
  /** Host path of the lower directory, which is not changed. Below `jobDir`, as the others. */
  readonly lower: string;
  /** Directory holding `upper` and `work`. */
  readonly layer: string;
  /** Where it is mounted: an existing directory reached without symbolic links. */
  readonly at: string;
}

/** The Unix identity of the builds of a slot, set only where the service is root. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Arguments: the table of every stage; nothing, or a file and the table of overlays to write into it; `--`, command. Paths are arguments,
 * never script. One `mount` reads both tables: each start of it costs as much as all that it mounts.
 */
const SCRIPT = `set -e
if [ "$2" = -- ]; then
  mount --all --fstab "$1"
  shift 2
else
  printf %s "$3" > "$2"
  mount --all --fstab "$1" --fstab "$2"
  shift 4
fi
exec "$@"`;

/** What every stage begins with, in the form of fstab(5). */
export function mountTable({ point, jobDir, gitDir }: Omit<Stage, 'table'>): string {
  return [
    line('gatehouse', point, 'tmpfs', 'size=1m,mode=0755,nosuid,nodev'),
    line(jobDir, `${point}/jobs`, 'none', 'bind,X-mount.mkdir'),
    line(gitDir, `${point}/git`, 'none', 'bind,X-mount.mkdir'),
  ].join('');
}

function line(...fields: readonly string[]): string {
  return `${fields.map(quoted).join(' ')} 0 0\n`;
}

/** As getmntent(3) reads it: what would end a field is an octal number. */
function quoted(field: string): string {
  return field.replace(/[ \t\n\\#]/g, char => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`);
}

/** The path of a host path on the stage; paths outside the two sources are unchanged. */
export function onStage(stage: Stage, path: string): string {
  return (
    below(stage.jobDir, path, `${stage.point}/jobs`) ??
    below(stage.gitDir, path, `${stage.point}/git`) ??
    path
  );
}

function below(root: string, path: string, place: string): string | undefined {
  if (path === root) return place;
  return path.startsWith(`${root}/`) ? place + path.slice(root.length) : undefined;
}

/** `argv` run on the stage, as `owner` when the service is root. */
export function stagedArgv(
  stage: Stage,
  overlays: readonly Overlay[],
  owner: Owner | null,
  argv: readonly string[],
): string[] {
  return [
    ...unshared(stage),
    ...['/bin/sh', '-c', SCRIPT, 'gatehouse-stage', stage.table],
    ...overlayTable(stage, overlays),
    '--',
    ...(owner === null ? [] : dropTo(owner)),
    ...argv,
  ];
}

/** Mounts that come and go on the host while a stage waits do so there too, else it would keep a disk busy; its own are seen there alone. */
function unshared({ asRoot }: Pick<Stage, 'asRoot'>): readonly string[] {
  const namespaces = asRoot ? ['--mount'] : ['--user', '--map-root-user', '--mount'];
  return ['unshare', ...namespaces, '--propagation', 'slave', '--'];
}

/** @returns the file, beside the first layer, and what is written into it; empty without overlays. */
function overlayTable(stage: Stage, overlays: readonly Overlay[]): readonly string[] {
  const [first] = overlays;
  if (first === undefined) return [];
  const lines = overlays.map(overlay =>
    line('overlay', onStage(stage, overlay.at), 'overlay', overlayOptions(stage, overlay)),
  );
  return [`${first.layer}.mounts`, lines.join('')];
}

function overlayOptions(stage: Stage, { lower, layer }: Overlay): string {
  const [from, to] = [onStage(stage, lower), onStage(stage, layer)];
  // Our own names below our own directories: nothing in them needs quoting (checked, since a comma would add an option).
  if (!/^[\w/.-]+$/.test(from + to)) throw new Error(`not a path for an overlay: ${from} ${to}`);
  const options = [`lowerdir=${from}`, `upperdir=${to}/upper`, `workdir=${to}/work`];
  return [...options, ...(stage.asRoot ? [] : ['userxattr'])].join(',');
}

/**
 * The same in two parts for a shell that reads them one after the other (`spawner/ready-stage.ts`): what all builds of the executor begin
 * with, before there is one, and what one of them adds.
 */
export function firstPart({ asRoot, table }: Stage): {
  readonly argv: readonly string[];
  readonly script: string;
} {
  return {
    argv: [...unshared({ asRoot }), '/bin/sh', '-e'],
    script: `${command('mount', '--all', '--fstab', table)} </dev/null\n`,
  };
}

/** @param env of `argv`, besides that of the shell. @param closed descriptors of the shell that `argv` does not get. */
export function secondPart(
  stage: Stage,
  overlays: readonly Overlay[],
  owner: Owner | null,
  { argv, env, closed }: StagedProgram,
): string {
  const [file, table] = overlayTable(stage, overlays);
  const lines = [
    ...(file === undefined || table === undefined
      ? []
      : [
          `${command('printf', '%s', table)} > ${shellWord(file)}`,
          `${command('mount', '--all', '--fstab', file)} </dev/null`,
        ]),
    ...Object.entries(env).map(([name, value]) => `export ${name}=${shellWord(value)}`),
    [
      `exec ${command(...(owner === null ? [] : dropTo(owner)), ...argv)} </dev/null`,
      ...closed.map(descriptor => `${descriptor}<&-`),
    ].join(' '),
  ];
  return lines.map(text => `${text}\n`).join('');
}

/** What the second part becomes. */
interface StagedProgram {
  readonly argv: readonly string[];
  readonly env: { readonly [name: string]: string };
  readonly closed: readonly number[];
}

function command(...words: readonly string[]): string {
  return words.map(shellWord).join(' ');
}

/** Every character but the quote stands for itself between quotes. */
function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Switches to the job's user permanently: no way back, no capability, no set-uid program. */
function dropTo({ uid, gid }: Owner): string[] {
  return [
    ...['setpriv', '--reuid', String(uid), '--regid', String(gid), '--clear-groups'],
    ...['--no-new-privs', '--inh-caps=-all', '--bounding-set=-all', '--'],
  ];
}

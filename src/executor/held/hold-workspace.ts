/**
 * Makes the workspace of a failed build one that a person can look at, and moves it to where it is held:
 *
 *     overlays merged → open to us, without devices, sockets and settings of git → repositories whole → files with secrets removed
 *                     → owned by us → measured → the rest of the build's directory removed → renamed to <job_dir>/.held/
 *
 * All but the last step happens in the build's own directory, which a later start removes should this process die. Nothing of the job runs any
 * more, but all that it left is a stranger's: no step follows its links, and git is run as its user. What a person starts there, `git status`
 * above all, must not start what the job put into a configuration or a hook of git.
 */
import { lstatSync, mkdirSync, renameSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { BuildPlaces } from '../build-places.ts';
import type { OwnProcesses } from '../git-process.ts';
import type { Owner } from '../sandbox/stage.ts';
import { tamperedPlace, type Workspace } from '../workspace.ts';
import { HELD, type HeldName, heldPlace } from './held-name.ts';
import { makeWhole } from './whole-repository.ts';

/** Of one executor. */
export interface HoldPlaceDeps {
  readonly own: OwnProcesses;
  readonly jobDir: string;
  /** Bytes of all that is held here; null: no limit. */
  readonly mostBytes: number | null;
}

/** A failed build of which nothing runs any more. */
export interface LeftWorkspace {
  readonly name: HeldName;
  readonly places: BuildPlaces;
  readonly workspace: Workspace;
  /** Null: the service's user. */
  readonly owner: Owner | null;
  /** Of all secrets that its playbooks had, as they may be written. */
  readonly masks: readonly string[];
  /** The executor stops, or has lost the build. */
  readonly signal: AbortSignal;
}

/** `not-held`: its directory is still to be removed. */
export type WorkspaceHold =
  | {
      readonly kind: 'held';
      readonly path: string;
      /** Allocated. */
      readonly bytes: number;
      /** What differs from what the job left, one line each. */
      readonly notes: readonly string[];
    }
  | { readonly kind: 'not-held'; readonly reason: string };

/** Never rejects. */
export async function holdWorkspace(deps: HoldPlaceDeps, left: LeftWorkspace): Promise<WorkspaceHold> {
  try {
    return await held(deps, left);
  } catch (error) {
    return { kind: 'not-held', reason: error instanceof Error ? error.message : String(error) };
  }
}

async function held(deps: HoldPlaceDeps, left: LeftWorkspace): Promise<WorkspaceHold> {
  const { own, jobDir } = deps;
  const { places, workspace, owner, signal } = left;
  const { work, home, layers } = places;
  const room = await roomFor(deps);
  const lower = workspace.overlays.map(overlay => overlay.lower);
  const before = await bytesOf(own, [work, home, layers, ...lower]);
  if (before > room) return tooLarge(before, room);
  const replaced = tamperedPlace(
    places,
    workspace.overlays.map(({ at }) => at),
  );
  if (replaced !== undefined) return { kind: 'not-held', reason: `the job removed or replaced ${replaced}` };
  for (const overlay of workspace.overlays) {
    signal.throwIfAborted();
    const whole = join(overlay.layer, 'whole');
    mkdirSync(whole);
    await own.merged(overlay, whole);
    await own.system(['rm', '-rf', '--', overlay.at]);
    renameSync(whole, overlay.at);
  }
  await own.system(['/bin/sh', '-ec', DISARM, 'sh', work, home]);
  const notes: string[] = [];
  for (const repository of workspace.repositories) {
    signal.throwIfAborted();
    const problem = await makeWhole(own, repository, { places, owner, mostBytes: room });
    if (problem !== undefined) notes.push(problem);
  }
  signal.throwIfAborted();
  const secret = left.masks.length === 0 ? 0 : await removeSecrets(own, left);
  if (secret > 0)
    notes.push(`without ${secret === 1 ? 'a file' : `${secret} files`} with secrets of the build`);
  if (owner !== null) await own.system(['chown', '-R', '-h', '0:0', '--', work, home]);
  relink(home);
  const bytes = await bytesOf(own, [work, home]);
  if (bytes > room) return tooLarge(bytes, room);
  signal.throwIfAborted();
  const path = heldPlace(jobDir, left.name);
  await own.system(['/bin/sh', '-ec', ONLY, 'sh', places.root]);
  mkdirSync(join(jobDir, HELD), { recursive: true, mode: 0o700 });
  renameSync(places.root, path);
  return { kind: 'held', path, bytes, notes };
}

async function roomFor({ own, jobDir, mostBytes }: HoldPlaceDeps): Promise<number> {
  if (mostBytes === null) return Number.POSITIVE_INFINITY;
  const place = join(jobDir, HELD);
  const isThere = lstatSync(place, { throwIfNoEntry: false }) !== undefined;
  return Math.max(0, mostBytes - (isThere ? await bytesOf(own, [place]) : 0));
}

function tooLarge(bytes: number, room: number): WorkspaceHold {
  const reason = `it takes ${bytes} bytes, and [executor] held_workspaces_limit leaves room for ${room}`;
  return { kind: 'not-held', reason };
}

async function bytesOf(own: OwnProcesses, paths: readonly string[]): Promise<number> {
  const options = ['--summarize', '--total', '--block-size=1', '--one-file-system', '--'];
  const total = /^(\d+)\ttotal$/m.exec(await own.system(['du', ...options, ...paths]))?.[1];
  if (total === undefined) throw new Error('du gave no total');
  return Number(total);
}

/**
 * Of each directory that git might take for a repository, settings and hooks get another name: both name programs that git starts. A job that
 * runs as another user could leave a program with that user's rights; those go as well.
 */
const DISARM = `chmod -R u+rwX,a-s -- "$@"
find "$@" -xdev ! -type f ! -type d ! -type l -delete
find "$@" -xdev -name refs -exec /bin/sh -c '
for refs do
  git=\${refs%/refs}
  [ -e "$git/objects" ] || [ -L "$git/objects" ] || continue
  for part in config config.worktree hooks; do
    [ -e "$git/$part" ] || [ -L "$git/$part" ] || continue
    rm -rf -- "$git/$part.of-job" && mv -T -- "$git/$part" "$git/$part.of-job" || exit 1
  done
done' sh {} +`;

/** Of the build's directory what a person looks at. */
const ONLY = `find "$1" -mindepth 1 -maxdepth 1 ! -name work ! -name home -exec rm -rf -- {} +
chmod 0700 -- "$1"`;

/** The masks come through descriptor 3. A file that cannot be searched ends it with a failure. */
const SEARCH = `list=$1; shift
cat <&3 | { grep -rlZaF -D skip -f - -- "$@" >"$list" || [ $? = 1 ]; }
xargs -0 -r rm -f -- <"$list"
tr -cd '\\0' <"$list" | wc -c`;

/** @returns how many files there were. */
async function removeSecrets(own: OwnProcesses, { places, masks }: LeftWorkspace): Promise<number> {
  const list = join(places.info, 'with-secrets');
  const argv = ['/bin/sh', '-ec', SEARCH, 'sh', list, places.work, places.home];
  return Number(await own.system(argv, `${masks.join('\n')}\n`));
}

/** Inside the sandbox it led to another path. */
function relink(home: string): void {
  const link = join(home, 'src');
  if (lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return;
  unlinkSync(link);
  symlinkSync(join('..', 'work', 'src'), link);
}

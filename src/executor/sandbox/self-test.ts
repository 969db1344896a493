/**
 * Proves at start that the sandbox isolates: a job of our own tries what a hostile one would, in a real build directory, and
 * every attempt must fail. Also proves that jobs can work (write the workspace, change an overlay).
 */
import { chmod, chown, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { randomIds } from '../../lib/ids.ts';
import { makeDirectory, makePlaces, placesOf } from '../build-places.ts';
import { createOwnProcesses } from '../git-process.ts';
import { deleteTrees } from '../remove-build.ts';
import type { Spawner } from '../spawner/spawner.ts';
import { endText } from './find-runtime.ts';
import type { Sandbox } from './sandbox.ts';
import type { Overlay, Owner } from './stage.ts';

/** Prefix of its directory's name. */
export const SELF_TEST = '.self-test-';

/** Each line is one attempt; the first that succeeds ends the test with its message. `$1` is a file of the host. */
const ATTEMPTS = `
broken() { echo "$1"; exit 9; }
[ "$(id -u)" != 0 ] || broken 'the job is root'
grep -q '^CapEff:[[:space:]]*0*$' /proc/self/status || broken 'the job keeps capabilities'
grep -q '^NoNewPrivs:[[:space:]]*1' /proc/self/status || broken 'set-uid programs would work'
[ ! -e "$1" ] || broken 'files of the host are visible'
[ ! -e /etc/shadow ] || broken 'the passwords of the host are visible'
for place in / /usr /dev /etc /gatehouse; do
  if (: > "$place/gatehouse-probe") 2>/dev/null; then broken "$place is writable"; fi
done
[ "$(grep -c : /proc/net/dev)" = 1 ] || broken 'the network is visible'
[ "$(ls -d /proc/[0-9]* | wc -l)" -le 10 ] || broken 'processes of the host are visible'
for number in $(ls /proc/self/fd); do
  [ "$number" -le 3 ] || broken "descriptor $number of the service is open"
done
[ -z "\${GATEHOUSE_CANARY+set}" ] || broken 'the environment of the service is visible'
for folder in . src logs artifacts /tmp /dev/shm "$HOME"; do
  (: > "$folder/gatehouse-probe") 2>/dev/null || broken "the job cannot write $folder"
done
if [ "$2" = overlay ]; then
  [ "$(cat src/overlay/file)" = before ] || broken 'an overlay does not show its files'
  (echo after > src/overlay/file) 2>/dev/null || broken 'the job cannot change an overlay'
  rm src/overlay/gone || broken 'the job cannot delete in an overlay'
fi
if [ "$3" = no-userns ]; then
  if unshare --user true 2>/dev/null; then broken 'the job can make user namespaces'; fi
fi
if [ "$4" = seccomp ]; then
  grep -q '^Seccomp:[[:space:]]*2' /proc/self/status || broken 'system calls are not filtered'
fi
echo passed`;

/** @returns undefined when the sandbox isolates, else the reason as one line. */
export async function selfTest(
  sandbox: Sandbox,
  spawner: Spawner,
  options: { readonly disableUserns: boolean; readonly seccomp: boolean },
): Promise<string | undefined> {
  const folder = await mkdtemp(join(sandbox.jobDir, SELF_TEST));
  const places = placesOf(folder, randomIds().uuid());
  const canary = join(folder, 'canary');
  const owner = sandbox.ownerOf(0);
  try {
    await chmod(folder, 0o711);
    makePlaces(places, owner, sandbox.view(places).work);
    await writeFile(canary, 'of the host\n');
    const overlay = sandbox.overlays
      ? await makeOverlay(folder, places.layers, places.src, owner)
      : undefined;
    const end = await spawner.start({
      ...sandbox.job(
        {
          places,
          overlays: overlay === undefined ? [] : [overlay],
          readOnly: [],
          argv: [
            '/bin/sh',
            '-c',
            ATTEMPTS,
            'self-test',
            canary,
            overlay === undefined ? '' : 'overlay',
            options.disableUserns ? 'no-userns' : '',
            options.seccomp ? 'seccomp' : '',
          ],
          environment: { PATH: sandbox.view(places).path, HOME: sandbox.view(places).home },
          cwd: sandbox.view(places).work,
          network: false,
          listen: false,
          secrets: '{}\n',
          limits: { processes: 64, openFiles: 256, fileBytes: null },
          mark: basename(folder),
        },
        owner,
      ),
      output: { kind: 'capture', limit: 65_536 },
      timeoutMs: 20_000,
      graceMs: 1_000,
    }).ended;
    if (end.kind !== 'ended' || end.code !== 0 || !end.output.includes('passed')) return endText(end);
    if (overlay !== undefined && (await readFile(join(overlay.lower, 'file'), 'utf8')) !== 'before\n') {
      return 'a job changed the kept checkout below its overlay';
    }
    return undefined;
  } finally {
    // As for any build: the kernel leaves a directory in an overlay's layer that only root may read as it is.
    await deleteTrees(createOwnProcesses(spawner, sandbox), [folder]);
  }
}

async function makeOverlay(
  folder: string,
  layers: string,
  src: string,
  owner: Owner | null,
): Promise<Overlay> {
  const overlay = { lower: join(folder, 'lower'), layer: join(layers, '0'), at: join(src, 'overlay') };
  makeDirectory(overlay.lower, 0o755, owner);
  for (const path of [join(overlay.lower, 'file'), join(overlay.lower, 'gone')]) {
    await writeFile(path, 'before\n');
    if (owner !== null) await chown(path, owner.uid, owner.gid);
  }
  await mkdir(overlay.layer);
  for (const path of [join(overlay.layer, 'upper'), join(overlay.layer, 'work'), overlay.at]) {
    makeDirectory(path, 0o755, owner);
  }
  return overlay;
}

/**
 * How much a build has written: the second limit behind the one on single files (`--fsize`). Bytes are measured with `du`. Files are
 * counted too: empty ones take no bytes but use up a file system's inodes. Few files are counted here, more of them by processes.
 */
import { pause } from '../lib/pause.ts';
import type { BuildPlaces } from './build-places.ts';
import { smallUsage } from './small-usage.ts';
import type { ProcessEnd } from './spawner/protocol.ts';
import type { Spawner } from './spawner/spawner.ts';

/** What a build may hold; null: no limit. */
export interface DiskLimits {
  readonly bytes: number | null;
  /** Files, directories, links and everything else that has a name. */
  readonly files: number | null;
}

/** Measures one build at a time; {@link watchDisk} repeats it. */
export interface DiskUsage {
  /** @returns the limit that is reached, as a sentence; undefined when none is, or nothing can be measured. */
  excess(places: BuildPlaces, limits: DiskLimits): Promise<string | undefined>;
}

/** @param spawner runs `du` and `find` as the service's own user, each for at most a minute. */
export function createDiskUsage(spawner: Spawner): DiskUsage {
  return {
    async excess(places, { bytes, files }) {
      const small = smallUsage(writable(places));
      // First, since it stops at the limit: `du` would walk through everything.
      if (files !== null && (small?.files ?? (await countFiles(spawner, places, files))) >= files)
        return `the build holds more than the ${files} files it may write`;
      if (bytes !== null && (small?.bytes ?? (await measureBytes(spawner, places)) ?? 0) >= bytes)
        return `the build holds more than the ${bytes} bytes it may write`;
      return undefined;
    },
  };
}

/** Allocated bytes of everything the job may write; undefined when they cannot be measured. */
async function measureBytes(spawner: Spawner, places: BuildPlaces): Promise<number | undefined> {
  const options = ['--summarize', '--total', '--block-size=1', '--one-file-system', '--'];
  const end = await run(spawner, ['du', ...options, ...writable(places)]);
  // Not by status: `du` complains about directories the job has closed or removed meanwhile, and still adds up the rest.
  const total = end.kind === 'ended' ? /^(\d+)\ttotal$/m.exec(end.output)?.[1] : undefined;
  return total === undefined ? undefined : Number(total);
}

/** One character per file, and no more than requested. Directories the job has closed or removed meanwhile are left out. */
const COUNT = `most=$1; shift; find "$@" -xdev -mindepth 1 -printf . 2>/dev/null | head -c "$most" | wc -c`;

/** @returns `most` where there are as many or more. */
async function countFiles(spawner: Spawner, places: BuildPlaces, most: number): Promise<number> {
  const end = await run(spawner, ['/bin/sh', '-c', COUNT, 'count', String(most), ...writable(places)]);
  return end.kind === 'ended' ? Number.parseInt(end.output, 10) || 0 : 0;
}

function writable({ work, layers, home, tmp }: BuildPlaces): string[] {
  return [work, layers, home, tmp];
}

function run(spawner: Spawner, argv: readonly string[]): Promise<ProcessEnd> {
  return spawner.start({
    argv,
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
    cwd: '/',
    user: null,
    output: { kind: 'capture', limit: 65_536 },
    timeoutMs: 60_000,
    graceMs: 1_000,
    reach: { kind: 'group' },
  }).ended;
}

/** Calls `onFull` once when the build exceeds a limit; measures every `seconds` until `signal` aborts. */
export async function watchDisk(
  usage: DiskUsage,
  places: BuildPlaces,
  limits: DiskLimits & { readonly seconds: number },
  signal: AbortSignal,
  onFull: (excess: string) => void,
): Promise<void> {
  for (;;) {
    await pause(limits.seconds * 1000, signal);
    if (signal.aborted) return;
    const excess = await usage.excess(places, limits);
    if (signal.aborted) return;
    if (excess !== undefined) {
      onFull(excess);
      return;
    }
  }
}

/** How much a build has written, measured with `du`: the second line behind the limit on single files (`--fsize`). */
import { pause } from '../lib/pause.ts';
import type { BuildPlaces } from './build-places.ts';
import type { Spawner } from './spawner/spawner.ts';

export interface DiskUsage {
  /** Bytes allocated by what the job may write; undefined when it cannot be measured. */
  measure(places: BuildPlaces): Promise<number | undefined>;
}

export function createDiskUsage(spawner: Spawner): DiskUsage {
  return {
    async measure({ work, layers, home, tmp }) {
      const end = await spawner.start({
        argv: [
          'du',
          '--summarize',
          '--total',
          '--block-size=1',
          '--one-file-system',
          '--',
          work,
          layers,
          home,
          tmp,
        ],
        env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
        cwd: '/',
        user: null,
        output: { kind: 'capture', limit: 65_536 },
        timeoutMs: 60_000,
        graceMs: 1_000,
        reach: { kind: 'group' },
      }).ended;
      // Not by status: `du` complains about directories the job has closed or removed meanwhile, and still adds up the rest.
      const total = end.kind === 'ended' ? /^(\d+)\ttotal$/m.exec(end.output)?.[1] : undefined;
      return total === undefined ? undefined : Number(total);
    },
  };
}

/** Calls `onFull` once when the build holds `limit` bytes or more; looks every `seconds` until `signal` aborts. */
export async function watchDisk(
  usage: DiskUsage,
  places: BuildPlaces,
  limit: { readonly bytes: number; readonly seconds: number },
  signal: AbortSignal,
  onFull: () => void,
): Promise<void> {
  for (;;) {
    await pause(limit.seconds * 1000, signal);
    if (signal.aborted) return;
    const used = await usage.measure(places);
    if (signal.aborted) return;
    if (used !== undefined && used >= limit.bytes) {
      onFull();
      return;
    }
  }
}

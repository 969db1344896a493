/**
 * A disk that is easily full: a tmpfs of a few megabytes, mounted for one test.
 *
 *     await using disk = await smallDisk(48);
 *     await disk.fill(0);          // nothing is left
 *     await disk.empty();          // there is room again
 *
 * Needs root: tests on it are skipped, visibly, where mounting is forbidden.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe } from 'vitest';

const run = promisify(execFile);

export interface SmallDisk extends AsyncDisposable {
  readonly path: string;
  /** Writes until so many bytes are left. */
  fill(left: number): Promise<void>;
  /** Removes what `fill` wrote. */
  empty(): Promise<void>;
}

export async function smallDisk(megabytes: number): Promise<SmallDisk> {
  const path = await mkdtemp(join(tmpdir(), 'gatehouse-disk-'));
  await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'tmpfs', path]);
  const ballast = join(path, 'ballast');
  return {
    path,
    async fill(left) {
      const { bavail, bsize } = await statfs(path);
      await writeFile(ballast, Buffer.alloc(Math.max(0, bavail * bsize - left)), { flag: 'a' });
    },
    empty: () => rm(ballast, { force: true }),
    async [Symbol.asyncDispose]() {
      // Lazily: what still holds a file there is none of the test's business.
      await run('umount', ['--lazy', path]);
      await rm(path, { recursive: true, force: true });
    },
  };
}

/** A `describe` that is skipped where mounting is forbidden. */
export const describeOnSmallDisk = describe.skipIf(process.getuid?.() !== 0);

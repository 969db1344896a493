/** Writes files through to the disk: what is reported as kept is there also when the machine lost its power a moment later. */
import { open } from 'node:fs/promises';
import { inParallel } from '../../lib/parallel.ts';

/** So many share what the disk does for each. */
const AT_ONCE = 4;

/** Also directories, whose entries it concerns then. @throws Error of the file system. */
export async function syncFiles(paths: readonly string[]): Promise<void> {
  await inParallel(paths, AT_ONCE, async path => {
    const file = await open(path, 'r');
    try {
      await file.sync();
    } finally {
      await file.close();
    }
  });
}

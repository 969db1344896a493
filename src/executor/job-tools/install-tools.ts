/** The tools jobs find on their PATH besides the host's programs: `gatehouse` (its one subcommand is `step`). */
import { chmod, copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const GATEHOUSE = fileURLToPath(new URL('gatehouse.sh', import.meta.url));

/** @param folder a directory the job cannot write. */
export async function installTools(folder: string): Promise<void> {
  const path = join(folder, 'gatehouse');
  await copyFile(GATEHOUSE, path);
  await chmod(path, 0o755);
}

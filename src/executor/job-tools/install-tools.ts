/** The tools jobs find on their PATH besides the host's programs: `gatehouse` (its one subcommand is `step`). */
import { chmodSync, copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const GATEHOUSE = fileURLToPath(new URL('gatehouse.sh', import.meta.url));

/** @param folder a directory the job cannot write. */
export function installTools(folder: string): void {
  const path = join(folder, 'gatehouse');
  copyFileSync(GATEHOUSE, path);
  chmodSync(path, 0o755);
}

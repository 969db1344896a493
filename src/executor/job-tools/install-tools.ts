/** The tools jobs find on their PATH besides the host's programs: `gatehouse` with its subcommands `step` and `return`. */

import { chmodSync, copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownFile } from '../../lib/own-file.ts';

/** `return` is a program of its own, started by the first. */
const TOOLS = { gatehouse: 'gatehouse.sh', 'gatehouse-return': 'gatehouse-return.sh' };

/** @param folder a directory the job cannot write. */
export function installTools(folder: string): void {
  for (const [name, source] of Object.entries(TOOLS)) {
    const path = join(folder, name);
    copyFileSync(ownFile(`src/executor/job-tools/${source}`), path);
    chmodSync(path, 0o755);
  }
}

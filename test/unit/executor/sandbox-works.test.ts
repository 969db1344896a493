/**
 * Tests of the sandbox's walls do not run where its self-test fails, so a mistake of ours could hide as a machine without
 * bubblewrap. Whether bubblewrap works is found out here without any code of ours; where it does, the sandbox must stand.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openSandbox } from '../../../src/executor/sandbox/open-sandbox.ts';
import { createSpawner } from '../../../src/executor/spawner/spawner.ts';

/** Undefined: it works, for the user of these tests. */
async function bubblewrapProblem(): Promise<string | undefined> {
  try {
    await promisify(execFile)('bwrap', ['--unshare-all', '--ro-bind', '/', '/', 'true']);
    return undefined;
  } catch (error) {
    return String(error).replaceAll(/\s+/g, ' ');
  }
}

const problem = await bubblewrapProblem();

test.runIf(problem === undefined)(
  `where bubblewrap works, jobs are isolated${problem === undefined ? '' : ` [not run: ${problem}]`}`,
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-sandbox-'));
    const spawner = createSpawner({
      onCrash: reason => {
        throw new Error(`the spawner died: ${reason}`);
      },
    });
    try {
      await spawner.ready();
      const { isolated, report } = await openSandbox({
        mode: 'auto',
        jobDir: join(folder, 'jobs'),
        gitDir: join(folder, 'git'),
        path: process.env.PATH ?? '/usr/bin:/bin',
        readOnlyPaths: [],
        slots: 1,
        spawner,
      });
      expect({ isolated, report }).toEqual({ isolated: true, report: expect.stringContaining('bubblewrap') });
    } finally {
      await spawner.close();
      await rm(folder, { recursive: true, force: true });
    }
  },
);

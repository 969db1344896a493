/** Where bubblewrap works (the set-up of the run found that out without any code of ours) the sandbox must stand. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSandbox } from '../../../src/executor/sandbox/open-sandbox.ts';
import { createSpawner } from '../../../src/executor/spawner/spawner.ts';
import { describeOnBubblewrap } from '../../setup/bubblewrap.ts';

describeOnBubblewrap('the sandbox', () => {
  test('isolates jobs where bubblewrap works', async () => {
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
        firstUser: process.geteuid?.() === 0 ? 65_600 : null,
        spawner,
      });
      expect({ isolated, report }).toEqual({ isolated: true, report: expect.stringContaining('bubblewrap') });
    } finally {
      await spawner.close();
      await rm(folder, { recursive: true, force: true });
    }
  });
});

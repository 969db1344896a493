/** The usual way to run an executor: as an ordinary user. */
import { execFile } from 'node:child_process';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const isRoot = process.geteuid?.() === 0;
const USER = 65_540;

test.runIf(isRoot)(
  `an executor that is not root isolates and cleans up like one that is${isRoot ? '' : ' [not run: these tests are not root, so all of them show it]'}`,
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-unprivileged-'));
    try {
      await chown(folder, USER, USER);
      const program = fileURLToPath(new URL('unprivileged-run.ts', import.meta.url));
      const { stdout } = await promisify(execFile)(process.execPath, [program, folder], {
        uid: USER,
        gid: USER,
        env: { PATH: process.env.PATH, HOME: folder, TMPDIR: folder },
      });
      const said = JSON.parse(stdout);
      expect(said.uid).toBe(USER);
      expect(said.ends.map(({ result }: { result: string }) => result)).toEqual(['SUCCESS', 'SUCCESS']);
      for (const { log, spans } of said.ends) {
        expect(spans).toEqual(['mine']);
        expect(log).toContain(said.isolated ? '| 1000' : `| ${USER}`);
        expect(log).toContain('|  M ci/run.sh');
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
);

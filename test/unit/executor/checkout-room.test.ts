/** Repositories of a few kilobytes that would fill the disk of an executor: measured before a byte is written. */
import { spawnSync } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { describeOnBubblewrap } from '../../setup/bubblewrap.ts';
import { commitWith, gitBomb } from '../git/git-bomb.ts';
import { type Bench, buildRequest, openBench, script } from './fixture.ts';

const MB = 1_000_000;

function bytesBelow(path: string): number {
  // What is being removed is none of ours.
  const du = ['--summarize', '--block-size=1', '--exclude=.trash', path];
  return Number(spawnSync('du', du).stdout.toString().split('\t')[0]);
}

/** A commit with a file of so many bytes, which compresses to next to nothing. */
async function commitOf(bench: Bench, bytes: number): Promise<string> {
  const base = await bench.commit({ 'ci/ok.sh': script('true') });
  const id = (await bench.repository.raw(['hash-object', '-w', '--stdin'], Buffer.alloc(bytes, 'y\n')))
    .toString()
    .trim();
  return commitWith(bench.repository.path, base, [{ name: 'large', mode: '100644', id }]);
}

for (const sandbox of ['none', 'auto'] as const) {
  const bench = await openBench({ sandbox, maxBuilds: 1, diskLimitBytes: 50 * MB });
  afterAll(() => bench[Symbol.asyncDispose]());

  describe(`a checkout with sandbox = ${sandbox}`, () => {
    test('of more than the limit ends the build with DISK_FULL, and nothing of it is on the disk', async () => {
      const commit = await commitOf(bench, 60 * MB);
      const { result } = await bench.submit(buildRequest(commit, { run: ['ci/ok.sh'] })).ended;
      expect(result).toMatchObject({
        result: 'DISK_FULL',
        detail: expect.stringMatching(/the checkouts take 6\d+ bytes, more than the 50000000 bytes/),
      });
      expect(bytesBelow(bench.executor.jobDir)).toBeLessThan(MB);
    });

    test('within the limit is made', async () => {
      const commit = await commitOf(bench, 20 * MB);
      const { result } = await bench.submit(buildRequest(commit, { run: ['ci/ok.sh'] })).ended;
      expect(result.result).toBe('SUCCESS');
    });

    test('of 10^10 files ends with DISK_FULL and their number', async () => {
      const base = await bench.commit({ 'ci/ok.sh': script('true') });
      const id = await gitBomb(bench.repository.path, 10);
      const commit = await commitWith(bench.repository.path, base, [{ name: 'd', mode: '040000', id }]);
      const { result } = await bench.submit(buildRequest(commit, { run: ['ci/ok.sh'] })).ended;
      expect(result).toMatchObject({
        result: 'DISK_FULL',
        detail: expect.stringContaining('its tree is too large to read: 1111111111'),
      });
    });
  });
}

const limit = 20 * MB;
const kept = await openBench({ sandbox: 'auto', maxBuilds: 1, diskLimitBytes: limit });
afterAll(() => kept[Symbol.asyncDispose]());

describeOnBubblewrap('kept checkouts', () => {
  test('never hold more than four builds may check out, the least recently used going first', async () => {
    const shelf = join(kept.executor.jobDir, '.kept', '0');
    const commit = await commitOf(kept, 15 * MB);
    const keys: string[][] = [];
    for (let branch = 0; branch < 7; branch += 1) {
      const request = buildRequest(commit, { run: ['ci/ok.sh'] });
      const projects = request.projects.map(project => ({ ...project, branch: `b${branch}` }));
      expect((await kept.submit({ ...request, projects }).ended).result.result).toBe('SUCCESS');
      expect(bytesBelow(shelf)).toBeLessThan(4 * limit + MB);
      keys.push(await readdir(shelf));
    }
    expect(keys.map(each => each.length)).toEqual([1, 2, 3, 4, 5, 5, 5]);
    expect(keys[6]).not.toContain(keys[0]?.[0]);
  });
});

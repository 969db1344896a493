/** Executors of one machine have different Unix users for their jobs, also when the same ones would follow from their directories. */
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { claimJobUsers, type JobUsers } from '../../../src/executor/sandbox/job-users.ts';
import { buildRequest, openBench, script, until } from './fixture.ts';

async function claim(jobDir: string, slots: number): Promise<JobUsers> {
  const users = await claimJobUsers(jobDir, slots);
  onTestFinished(() => users.release());
  return users;
}

describe('Unix users of jobs', () => {
  test('are the same for a directory every time', async () => {
    const range = { from: 2_000_000, to: 2_010_000 };
    const users = await claimJobUsers('/test/one', 4, range);
    await users.release();
    const again = await claimJobUsers('/test/one', 4, range);
    await again.release();
    expect(again).toMatchObject({ first: users.first, exclusive: true });
  });

  test.each([
    [4, 4],
    [4, 30],
    [30, 4],
    [200, 30],
  ])('of two executors with %i and %i slots are never the same', async (slots, others) => {
    const one = await claim('/test/two', slots);
    const ranges = [{ first: one.first, end: one.first + slots }];
    // Enough that some prefer what others have.
    for (let number = 0; number < 60; number += 1) {
      const { first, exclusive } = await claim(number % 2 === 0 ? '/test/two' : `/test/${number}`, others);
      expect(exclusive).toBe(true);
      for (const range of ranges) expect(first >= range.end || first + others <= range.first).toBe(true);
      ranges.push({ first, end: first + others });
    }
  });

  test('are shared, and say so, when none are left', async () => {
    // No executor of another test has these.
    const range = { from: 1_000_000, to: 1_000_064 };
    const taken = new Set<number>();
    for (let number = 0; number < 2; number += 1) {
      const users = await claimJobUsers('/test/most', 30, range);
      onTestFinished(() => users.release());
      expect(users.exclusive).toBe(true);
      taken.add(users.first);
    }
    expect([...taken].toSorted()).toEqual([1_000_000, 1_000_032]);
    expect(await claimJobUsers('/test/most', 30, range)).toMatchObject({ exclusive: false });
  });
});

test.runIf(process.geteuid?.() === 0)(
  'the end of a build kills no job of another executor whose directory prefers the same users',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-users-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await chmod(folder, 0o777);
    const jobDir = join(folder, 'jobs');
    const wanted = await firstUser(jobDir);
    let number = 0;
    while ((await firstUser(join(folder, `jobs-${number}`))) !== wanted) number += 1;

    await using one = await openBench({ jobDir });
    await using two = await openBench({ jobDir: join(folder, `jobs-${number}`) });
    const begun = join(folder, 'begun');
    const end = join(folder, 'end');
    const waits = script(`touch ${begun}; until [ -e ${end} ]; do sleep 0.02; done`);
    const waiting = one.submit(
      buildRequest(await one.commit({ 'ci/wait.sh': waits }), { run: ['ci/wait.sh'] }),
    );
    await until(() => existsSync(begun) || undefined, 'the job to run');
    const quick = buildRequest(await two.commit({ 'ci/quick.sh': script('true') }), { run: ['ci/quick.sh'] });
    expect((await two.submit(quick).ended).result.result).toBe('SUCCESS');
    await writeFile(end, '');
    expect((await waiting.ended).result).toMatchObject({ result: 'SUCCESS' });
  },
);

async function firstUser(jobDir: string): Promise<number> {
  const users = await claimJobUsers(jobDir, 2);
  await users.release();
  return users.first;
}

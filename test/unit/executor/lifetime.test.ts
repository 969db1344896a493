/** Starting where there is no sandbox, stopping, and losing the process that starts jobs. */
import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { buildRequest, openBench, script, until } from './fixture.ts';
import { processesWith } from './processes.ts';

const NOWHERE = '/nonexistent';

describe('an executor that finds no bubblewrap', () => {
  test('refuses to start when it is required, and says what to do', async () => {
    await expect(openBench({ sandbox: 'bubblewrap', path: NOWHERE })).rejects.toThrow(
      '[executor] sandbox = bubblewrap: bubblewrap (bwrap) is not installed; install or allow bubblewrap',
    );
  });

  test('runs without when it may choose, and says so in its warning and in every log', async () => {
    await using bench = await openBench({ sandbox: 'auto', path: NOWHERE });
    expect(bench.executor.isolated).toBe(false);
    expect(bench.warnings[0]).toMatch(/^sandbox: NONE, .*bubblewrap \(bwrap\) is not installed/);
    const commit = await bench.commit({ 'ci/ok.sh': script('true') });
    const { log } = await bench.submit(buildRequest(commit, { run: ['ci/ok.sh'] })).ended;
    expect(log).toContain('sandbox: NONE');
  });

  test('refuses untrusted playbooks where that is asked for, and runs trusted ones', async () => {
    await using bench = await openBench({ sandbox: 'none', untrustedWithoutSandbox: false });
    const commit = await bench.commit({ 'ci/ok.sh': script('true') });
    const request = buildRequest(commit, { run: ['ci/ok.sh'] });
    const { result } = await bench.submit(request).ended;
    expect(result).toMatchObject({
      result: 'ERROR',
      detail: expect.stringContaining('is not trusted and this executor has no sandbox'),
    });
    const trusted = buildRequest(commit, { run: ['ci/ok.sh'] });
    const run = trusted.playbooks.run.map(playbook => ({ ...playbook, trusted: true }));
    expect(
      (await bench.submit({ ...trusted, playbooks: { ...trusted.playbooks, run } }).ended).result.result,
    ).toBe('SUCCESS');
  });
});

for (const mode of ['none', 'auto'] as const) {
  describe(`stopping an executor (sandbox = ${mode})`, () => {
    test('gracefully lets what runs end and takes nothing new', async () => {
      await using bench = await openBench({ sandbox: mode, maxBuilds: 1 });
      const commit = await bench.commit({ 'ci/slow.sh': script('echo begun; sleep 0.5; echo done') });
      const build = bench.submit(buildRequest(commit, { run: ['ci/slow.sh'] }));
      await build.logHolds('| begun');
      const late = bench.submit(buildRequest(commit, { run: ['ci/slow.sh'] }));
      await bench.executor.stop('graceful');
      expect((await build.ended).result.result).toBe('SUCCESS');
      expect(await Promise.race([late.ended.then(() => 'ran'), Promise.resolve('left')])).toBe('left');
    });

    test('immediately kills what runs, which is tried again elsewhere', async () => {
      await using bench = await openBench({ sandbox: mode, graceSeconds: 30 });
      const commit = await bench.commit({ 'ci/deaf.sh': script("trap '' TERM; echo begun; sleep 4741") });
      const build = bench.submit(buildRequest(commit, { run: ['ci/deaf.sh'], postRun: ['ci/deaf.sh'] }));
      await build.logHolds('| begun');
      await bench.executor.stop('immediate');
      expect((await build.ended).result).toMatchObject({
        result: 'RETRY',
        detail: 'the executor was stopped',
      });
      expect(await processesWith('4741')).toEqual([]);
    });
  });

  test(`a build whose starter process dies is tried again, and the next build runs (sandbox = ${mode})`, async () => {
    await using bench = await openBench({ sandbox: mode });
    const commit = await bench.commit({
      'ci/slow.sh': script('echo begun; sleep 4742'),
      'ci/ok.sh': script('true'),
    });
    const build = bench.submit(buildRequest(commit, { run: ['ci/slow.sh'] }));
    await build.logHolds('| begun');
    for (const pid of await spawnersOf(process.pid)) process.kill(pid, 'SIGKILL');
    const { result } = await build.ended;
    expect(result).toMatchObject({
      result: 'RETRY',
      detail: expect.stringContaining('the process that starts jobs ended (SIGKILL)'),
    });
    await until(
      async () => ((await processesWith('4742')).length === 0 ? true : undefined),
      'the job to be gone',
    );
    expect((await bench.submit(buildRequest(commit, { run: ['ci/ok.sh'] })).ended).result.result).toBe(
      'SUCCESS',
    );
    expect(bench.warnings.join()).toContain('the process that starts jobs died');
  });
}

/** The helper processes this process has started. */
async function spawnersOf(parent: number): Promise<number[]> {
  const pids: number[] = [];
  for (const pid of (await readdir('/proc')).filter(name => /^\d+$/.test(name))) {
    const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
    const line = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '');
    const isChild = new RegExp(`^PPid:\\s+${parent}$`, 'm').test(status);
    if (isChild && line.includes('spawner/main.ts')) pids.push(Number(pid));
  }
  return pids;
}

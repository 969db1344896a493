import { expect, test } from 'vitest';
import { buildRequest, openBench, script } from './fixture.ts';

test('a pre-run that fails skips what post-run has of definitions that it had not reached', async () => {
  await using bench = await openBench();
  const commit = await bench.commit({
    'ci/good.sh': script('echo "good pre"'),
    'ci/bad.sh': script('exit 1'),
    'ci/never.sh': script('echo "never pre"'),
    'ci/base.sh': script('echo "base post"'),
    'ci/middle.sh': script('echo "middle post"'),
    'ci/deep.sh': script('echo "deep post"'),
    'ci/clean.sh': script('echo "deep cleanup"'),
  });
  const scripts = {
    preRun: ['ci/good.sh', 'ci/bad.sh', 'ci/never.sh'],
    run: ['ci/never.sh'],
    postRun: ['ci/deep.sh', 'ci/clean.sh', 'ci/middle.sh', 'ci/base.sh'],
  };
  const request = buildRequest(commit, scripts);
  const { preRun, run, postRun } = request.playbooks;
  const [deep, clean, middle, base] = postRun;
  const playbooks = {
    preRun: preRun.map((playbook, level) => ({ ...playbook, level })),
    run,
    postRun: [
      { ...deep!, level: 2 },
      { ...clean!, level: 2, cleanup: 'judged' as const },
      { ...middle!, level: 1 },
      base!,
    ],
  };
  const { result, log } = await bench.submit({ ...request, playbooks }).ended;
  expect(result.result, log).toBe('RETRY');
  expect(log).toContain('middle post');
  expect(log).toContain('base post');
  expect(log).not.toMatch(/never pre|deep post|deep cleanup/);
  expect(log).toContain('POST-RUN SKIPPED: git.example.org/acme/app/ci/deep.sh: pre-run ended before');

  // Where pre-run passes, all of them run.
  const passing = { ...playbooks, preRun: playbooks.preRun.filter(({ path }) => path !== 'ci/bad.sh') };
  const passed = await bench.submit({ ...buildRequest(commit, scripts), playbooks: passing }).ended;
  expect(passed.result.result).toBe('SUCCESS');
  expect(passed.log).toContain('deep post');
});

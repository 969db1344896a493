/** A line of a job's output says that it is going to fail: the scheduler learns it at once, and the job goes on. */
import { expect, test } from 'vitest';
import { createOutputWatch } from '../../../src/executor/spawner/output-watch.ts';
import { type Bench, buildRequest, openBench, script } from './fixture.ts';

async function withBench(run: (bench: Bench) => Promise<void>): Promise<void> {
  await using bench = await openBench();
  await run(bench);
}
const jobFacts = { failureOutput: ['FATAL: ', '.*panicked at'] };

test('the build is said to be failing while run still runs, and fails although it passes', () =>
  withBench(async bench => {
    const commit = await bench.commit({
      'ci/run.sh': script('echo not FATAL:; echo FATAL: no room; echo FATAL: again; sleep 600'),
      'ci/last.sh': script('echo last'),
    });
    const failing = Promise.withResolvers<string | undefined>();
    const request = buildRequest(commit, { run: ['ci/run.sh'], postRun: ['ci/last.sh'] }, { jobFacts });
    const build = bench.submit(request, async event => {
      if (event.kind === 'build-failing') failing.resolve(event.early);
    });
    expect(await failing.promise).toBe('a line of its output matches failure-output "FATAL: "');
    expect(await build.logHolds('FATAL: again')).not.toContain('RUN END');
    build.cancel();
    const { result, events } = await build.ended;
    expect(result.result).toBe('CANCELED');
    expect(events.filter(({ kind }) => kind === 'build-failing')).toHaveLength(1);

    const passing = await bench.commit({
      'ci/run.sh': script('echo "thread panicked at x"'),
      'ci/next.sh': script('echo next'),
    });
    const scripts = { run: ['ci/run.sh', 'ci/next.sh'], postRun: ['ci/last.sh'] };
    const passed = await bench.submit(buildRequest(passing, scripts, { jobFacts })).ended;
    expect(passed.result).toMatchObject({
      result: 'FAILURE',
      detail: 'a line of its output matches failure-output ".*panicked at"',
    });
    // It goes on as if nothing had been found.
    expect(passed.log).toContain('| next');
    expect(passed.log).toContain('| last');
    expect(passed.events.map(({ kind }) => kind)).toEqual(['build-started', 'build-failing']);
    const facts = passed.result.execution?.steps.find(({ subject }) => subject === 'ci/run.sh')?.facts;
    expect(facts).toMatchObject({ earlyFailure: true, exitCode: 0 });
  }));

test('only run is watched, and a failure of its own keeps its reason', () =>
  withBench(async bench => {
    const commit = await bench.commit({
      'ci/say.sh': script('echo FATAL: here'),
      'ci/ok.sh': script('true'),
      'ci/bad.sh': script('echo FATAL: here; exit 3'),
    });
    const scripts = { preRun: ['ci/say.sh'], run: ['ci/ok.sh'], postRun: ['ci/say.sh'] };
    const { result, events } = await bench.submit(buildRequest(commit, scripts, { jobFacts })).ended;
    expect(result.result).toBe('SUCCESS');
    expect(events.map(({ kind }) => kind)).toEqual(['build-started']);
    const bad = await bench.submit(
      buildRequest(commit, { run: ['ci/bad.sh'], postRun: ['ci/ok.sh'] }, { jobFacts }),
    ).ended;
    expect(bad.result).toMatchObject({
      result: 'FAILURE',
      detail: 'run playbook ci/bad.sh ended with status 3',
    });
    expect(bad.events.map(({ kind }) => kind)).toEqual(['build-started', 'build-failing']);
  }));

test('long lines and costly expressions leave the loop to others', async () => {
  const found: string[] = [];
  const watch = await createOutputWatch(['(a|b)*c{3}x', 'never', 'end$'], source => found.push(source));
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 1);
  const lines = Array.from({ length: 2000 }, () => Buffer.from('ab'.repeat(500)));
  await watch(lines);
  clearInterval(timer);
  expect(found).toEqual([]);
  expect(longest).toBeLessThan(500);
  await watch([Buffer.from(`${'x'.repeat(5000)}end`), Buffer.from('the end'), Buffer.from('end')]);
  expect(found).toEqual(['end$']);
});

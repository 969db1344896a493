/** Playbooks of post-run that clean up run however the build ended, for a bounded time. */
import { expect, test } from 'vitest';
import type { BuildPlaybook, BuildRequest } from '../../../src/model/build-request.ts';
import { type Bench, buildRequest, openBench, type Scripts, script } from './fixture.ts';

const CLEAN = script('echo "cleaned up, success $ZUUL_SUCCESS"');

/** As {@link buildRequest}, with scripts of post-run that clean up where they are named. */
function withCleanup(
  commit: string,
  scripts: Scripts,
  cleanup: { readonly [path: string]: NonNullable<BuildPlaybook['cleanup']> },
  changes: Parameters<typeof buildRequest>[2] = {},
): BuildRequest {
  const request = buildRequest(commit, scripts, changes);
  const postRun = request.playbooks.postRun.map(playbook => {
    const own = cleanup[playbook.path];
    return own === undefined ? playbook : { ...playbook, cleanup: own };
  });
  return { ...request, playbooks: { ...request.playbooks, postRun } };
}

async function withBench(run: (bench: Bench) => Promise<void>, cleanupSeconds?: number): Promise<void> {
  await using bench = await openBench({ ...(cleanupSeconds === undefined ? {} : { cleanupSeconds }) });
  await run(bench);
}

test('they run after a cancel, and the other playbooks of post-run do not', () =>
  withBench(async bench => {
    const commit = await bench.commit({
      'ci/slow.sh': script('echo begun; sleep 600'),
      'ci/logs.sh': script('echo NEVER'),
      'ci/clean.sh': CLEAN,
      'ci/last.sh': script('echo last; exit 1'),
    });
    const scripts = { run: ['ci/slow.sh'], postRun: ['ci/logs.sh', 'ci/clean.sh', 'ci/last.sh'] };
    const marks = { 'ci/clean.sh': 'judged', 'ci/last.sh': 'unjudged' } as const;
    const build = bench.submit(withCleanup(commit, scripts, marks));
    await build.logHolds('| begun');
    build.cancel();
    const { result, log } = await build.ended;
    expect(result).toMatchObject({ result: 'CANCELED' });
    expect(log).toContain('| cleaned up, success false');
    expect(log).toContain('| last');
    expect(log).not.toContain('NEVER');
    const facts = result.execution?.steps.find(({ subject }) => subject === 'ci/clean.sh')?.facts;
    expect(facts).toMatchObject({ phase: 'post-run', cleanup: true });
  }));

test.each([
  ['unjudged', 'SUCCESS'],
  ['judged', 'POST_FAILURE'],
] as const)('one that fails and is %s makes a build that passed %s', (kind, expected) =>
  withBench(async bench => {
    const commit = await bench.commit({ 'ci/ok.sh': script('true'), 'ci/bad.sh': script('exit 1') });
    const scripts = { run: ['ci/ok.sh'], postRun: ['ci/bad.sh'] };
    const { result } = await bench.submit(withCleanup(commit, scripts, { 'ci/bad.sh': kind })).ended;
    expect(result.result).toBe(expected);
  }),
);

test('they run when run timed out and post-run has no time left', () =>
  withBench(async bench => {
    const commit = await bench.commit({ 'ci/slow.sh': script('sleep 600'), 'ci/clean.sh': CLEAN });
    const scripts = { run: ['ci/slow.sh'], postRun: ['ci/slow.sh', 'ci/clean.sh'] };
    const jobFacts = { timeout: 1, postTimeout: 1 };
    const build = withCleanup(commit, scripts, { 'ci/clean.sh': 'judged' }, { jobFacts });
    const { result, log } = await bench.submit(build).ended;
    expect(result.result).toBe('TIMED_OUT');
    expect(log).toContain('| cleaned up, success false');
  }));

test('together they have a bounded time after a cancel', () =>
  withBench(async bench => {
    const commit = await bench.commit({
      'ci/slow.sh': script('echo begun; sleep 600'),
      'ci/clean.sh': CLEAN,
    });
    const scripts = { run: ['ci/slow.sh'], postRun: ['ci/slow.sh', 'ci/clean.sh'] };
    const marks = { 'ci/slow.sh': 'judged', 'ci/clean.sh': 'judged' } as const;
    const build = bench.submit(withCleanup(commit, scripts, marks));
    await build.logHolds('| begun');
    build.cancel();
    const { result, log } = await build.ended;
    expect(result.result).toBe('CANCELED');
    expect(log).toMatch(/POST-RUN END: .*ci\/slow\.sh@main\]: .* timeout/);
    expect(log).not.toContain('cleaned up');
  }, 1));

test('a cancel does not stop them, and counts', () =>
  withBench(async bench => {
    const commit = await bench.commit({
      'ci/ok.sh': script('true'),
      'ci/clean.sh': script('echo waiting; sleep 0.5; echo went on'),
    });
    const scripts = { run: ['ci/ok.sh'], postRun: ['ci/clean.sh'] };
    const build = bench.submit(withCleanup(commit, scripts, { 'ci/clean.sh': 'judged' }));
    await build.logHolds('| waiting');
    build.cancel();
    const { result, log } = await build.ended;
    expect(result.result).toBe('CANCELED');
    expect(log).toContain('| went on');
  }));

test('they do not run where the claim is lost: the build may run elsewhere', () =>
  withBench(async bench => {
    const commit = await bench.commit({
      'ci/slow.sh': script('echo begun; sleep 600'),
      'ci/clean.sh': CLEAN,
    });
    const scripts = { run: ['ci/slow.sh'], postRun: ['ci/clean.sh'] };
    const build = bench.submit(withCleanup(commit, scripts, { 'ci/clean.sh': 'judged' }));
    await build.logHolds('| begun');
    build.lose();
    expect(await build.logHolds('RESULT: ')).not.toContain('cleaned up');
  }));

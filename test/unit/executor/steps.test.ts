/** What is known of a build's parts: its repositories, and the steps its playbooks report. */
import { afterAll, describe, expect, test } from 'vitest';
import type { Step } from '../../../src/model/step.ts';
import { buildRequest, CANONICAL, openBench, script } from './fixture.ts';

/** Reports one step, as `gatehouse step` does. */
const report = (id: string, parent: string, name: string) =>
  `printf 'begin\\t%s\\t%s\\tstep\\t%s\\t%s\\n' ${id} ${parent} "$(date +%s%N)" '${name}' >>"$GATEHOUSE_STEPS"`;
const done = (id: string, result: string) =>
  `printf 'end\\t%s\\t%s\\t${result}\\n' ${id} "$(date +%s%N)" >>"$GATEHOUSE_STEPS"`;

const playbooks = (steps: readonly Step[] | undefined) =>
  steps?.filter(({ kind }) => kind === 'Playbook') ?? [];

for (const mode of ['none', 'auto'] as const) {
  const bench = await openBench({ sandbox: mode, maxBuilds: 1 });
  afterAll(() => bench[Symbol.asyncDispose]());

  async function stepsOf(...args: Parameters<typeof buildRequest>): Promise<readonly Step[]> {
    const { result } = await bench.submit(buildRequest(...args)).ended;
    return result.execution?.steps ?? [];
  }

  describe(`steps with ${bench.executor.isolated ? 'bubblewrap' : 'no sandbox'} (sandbox = ${mode})`, () => {
    test('of a repository are those that were needed, with what they were about', async () => {
      const commit = await bench.commit({ 'ci/ok.sh': script('true') });
      const first = await stepsOf(commit, { run: ['ci/ok.sh'] });
      const repository = first.filter(({ kind }) => kind.startsWith('Build'));
      expect(repository.slice(0, 4)).toMatchObject([
        { kind: 'BuildCheckoutSize', subject: CANONICAL, facts: { files: 2, bytes: expect.any(Number) } },
        {
          kind: 'BuildCloneRepo',
          subject: CANONICAL,
          facts: { project: CANONICAL, cached: expect.any(Boolean) },
        },
        { kind: 'BuildSetRepoState', subject: CANONICAL, facts: { commit, branch: 'main' } },
        { kind: 'BuildCheckout', subject: CANONICAL, facts: { commit, branch: 'main', cached: false } },
      ]);
      const again = await stepsOf(commit, { run: ['ci/ok.sh'] });
      const kinds = again.map(({ kind }) => kind).filter(kind => kind.startsWith('Build'));
      const overlays = bench.executor.sandboxReport.includes('overlay');
      expect(kinds.slice(0, 2)).toEqual(['BuildCheckoutSize', overlays ? 'BuildCheckout' : 'BuildCloneRepo']);
    });

    test('before a commit that cannot be checked out are kept, the one that failed says so', async () => {
      const commit = await bench.commit({ 'ci/ok.sh': script('true') });
      const request = buildRequest(commit, { run: ['ci/ok.sh'] });
      const nowhere = { ...request.projects[0]!, commit: '1'.repeat(40) as typeof commit & never };
      const { result } = await bench.submit({ ...request, projects: [nowhere] }).ended;
      expect(result.result).toBe('RETRY');
      const steps = result.execution?.steps ?? [];
      expect(steps.find(({ kind }) => kind === 'BuildCheckoutSize')).toMatchObject({ result: 'FAILURE' });
      expect(steps.at(-1)?.kind).toBe('Cleanup');
    });

    test('a playbook reports are below it, those of the next below the next', async () => {
      const commit = await bench.commit({
        'ci/one.sh': script(
          [
            report('a1', '-', 'make'),
            report('b2', 'a1', 'compile'),
            done('b2', 'SUCCESS'),
            done('a1', 'FAILURE'),
          ].join('\n'),
        ),
        'ci/two.sh': script([report('a1', '-', 'lint'), done('a1', 'SUCCESS')].join('\n')),
      });
      const [one, two] = playbooks(await stepsOf(commit, { preRun: ['ci/one.sh'], run: ['ci/two.sh'] }));
      expect(one?.steps).toMatchObject([
        {
          kind: 'ScriptStep',
          subject: 'make',
          key: 'a1',
          result: 'FAILURE',
          steps: [{ subject: 'compile', key: 'b2' }],
        },
      ]);
      expect(two?.steps).toMatchObject([{ subject: 'lint', result: 'SUCCESS' }]);
    });

    test('are reported while tracing is off, too, and then no process gets a span', async () => {
      const commit = await bench.commit({
        'ci/nest.sh': script(
          `gatehouse step make -- gatehouse step compile -- sh -c 'echo "parent [$TRACEPARENT]"'`,
        ),
      });
      const { result, log } = await bench.submit(
        buildRequest(commit, { run: ['ci/nest.sh'] }, { trace: null }),
      ).ended;
      expect(log).toContain('| parent []');
      expect(playbooks(result.execution?.steps)[0]?.steps).toMatchObject([
        { subject: 'make', result: 'SUCCESS', steps: [{ subject: 'compile', facts: { exit_code: 0 } }] },
      ]);
    });

    test('of a cancelled build are kept, and what it was at ends with it', async () => {
      const commit = await bench.commit({
        'ci/slow.sh': script(`${report('a1', '-', 'long work')}\necho begun\nsleep 600`),
      });
      const build = bench.submit(buildRequest(commit, { run: ['ci/slow.sh'] }));
      await build.logHolds('| begun');
      build.cancel();
      const [playbook] = playbooks((await build.ended).result.execution?.steps);
      expect(playbook).toMatchObject({
        result: 'ABORTED',
        steps: [{ subject: 'long work', result: 'ABORTED' }],
      });
      expect(playbook?.steps?.[0]?.endedAt).toBe(playbook?.endedAt);
    });

    test('are bounded for the whole build, and the rest is counted', async () => {
      const many = `now=$(date +%s%N); i=0; while [ $i -lt 700 ]; do printf 'begin\\ts%s\\t-\\tstep\\t%s\\tx\\n' $i $now; i=$((i+1)); done >>"$GATEHOUSE_STEPS"`;
      const commit = await bench.commit({ 'ci/many.sh': script(many) });
      const [one, two] = playbooks(await stepsOf(commit, { run: ['ci/many.sh', 'ci/many.sh'] }));
      expect([one?.steps?.length, one?.facts?.dropped]).toEqual([700, undefined]);
      expect([two?.steps?.length, two?.facts?.dropped]).toEqual([300, 400]);
    });

    test('that are not reported leave a playbook as it is, and a job may spoil only its own file', async () => {
      const commit = await bench.commit({
        'ci/fifo.sh': script('mkfifo "$GATEHOUSE_STEPS"'),
        'ci/report.sh': script([report('a1', '-', 'later'), done('a1', 'SUCCESS')].join('\n')),
      });
      const [one, two] = playbooks(await stepsOf(commit, { run: ['ci/fifo.sh', 'ci/report.sh'] }));
      expect(one).not.toHaveProperty('steps');
      expect(two?.steps).toMatchObject([{ subject: 'later' }]);
    });
  });
}

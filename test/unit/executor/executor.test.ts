import { afterAll, describe, expect, test } from 'vitest';
import { playbookSpanId } from '../../../src/tracing/span-ids.ts';
import { buildRequest, CANONICAL, openBench, script, until } from './fixture.ts';

for (const mode of ['none', 'auto'] as const) {
  const bench = await openBench({ sandbox: mode });
  afterAll(() => bench[Symbol.asyncDispose]());
  const name = bench.executor.isolated ? 'bubblewrap' : 'no sandbox';

  describe(`results of an executor with ${name} (sandbox = ${mode})`, () => {
    test('a run playbook that exits with 0 is a success, and says build-started before', async () => {
      const commit = await bench.commit({ 'ci/ok.sh': script('echo hello; echo bad >&2') });
      const { result, events, log } = await bench.submit(buildRequest(commit, { run: ['ci/ok.sh'] })).ended;
      expect(result).toMatchObject({ kind: 'build-result', result: 'SUCCESS', worker: 'executor1' });
      expect(result.detail).toBeUndefined();
      expect(events).toMatchObject([{ kind: 'build-started', worker: 'executor1' }]);
      expect(log).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6} \| hello\n.* \| bad\n/m);
      expect(log).toContain(`RUN START: [untrusted : ${CANONICAL}/ci/ok.sh@main]`);
      expect(log).toContain('RESULT: SUCCESS');
    });

    test('a failing run playbook fails the job: later run playbooks are skipped, post-run runs and can see it', async () => {
      const commit = await bench.commit({
        'ci/bad.sh': script('exit 7'),
        'ci/never.sh': script('echo NEVER'),
        'ci/post.sh': script('echo success=$ZUUL_SUCCESS phase=$ZUUL_PHASE'),
      });
      const scripts = { run: ['ci/bad.sh', 'ci/never.sh'], postRun: ['ci/post.sh'] };
      const { result, events, log } = await bench.submit(buildRequest(commit, scripts)).ended;
      expect(result).toMatchObject({
        result: 'FAILURE',
        detail: 'run playbook ci/bad.sh ended with status 7',
      });
      expect(events.map(({ kind }) => kind)).toEqual(['build-started', 'build-failing']);
      expect(log).toContain('| success=false phase=post-run');
      expect(log).not.toContain('NEVER');
    });

    test('build-failing is said while post-run is still running', async () => {
      const commit = await bench.commit({
        'ci/bad.sh': script('exit 1'),
        'ci/wait.sh': script('echo waiting; until [ -e "$ZUUL_LOG_DIR/go" ]; do sleep 0.05; done'),
      });
      const build = bench.submit(buildRequest(commit, { run: ['ci/bad.sh'], postRun: ['ci/wait.sh'] }));
      await build.logHolds('| waiting');
      build.cancel();
      const { result, events } = await build.ended;
      expect(events.map(({ kind }) => kind)).toEqual(['build-started', 'build-failing']);
      expect(result.result).toBe('CANCELED');
    });

    test('a failing pre-run is tried again: run stays out, post-run runs, nothing is said to be failing', async () => {
      const commit = await bench.commit({
        'ci/pre.sh': script('exit 3'),
        'ci/never.sh': script('echo NEVER'),
        'ci/post.sh': script('echo cleaned'),
      });
      const scripts = { preRun: ['ci/pre.sh'], run: ['ci/never.sh'], postRun: ['ci/post.sh'] };
      const { result, events, log } = await bench.submit(buildRequest(commit, scripts)).ended;
      expect(result).toMatchObject({
        result: 'RETRY',
        detail: 'pre-run playbook ci/pre.sh ended with status 3',
      });
      expect(log).toContain('| cleaned');
      expect(log).not.toContain('NEVER');
      expect(events.map(({ kind }) => kind)).toEqual(['build-started']);
    });

    test('a failing post-run is POST_FAILURE and the other post-run playbooks still run', async () => {
      const commit = await bench.commit({
        'ci/ok.sh': script('true'),
        'ci/bad.sh': script('exit 1'),
        'ci/last.sh': script('echo last'),
      });
      const scripts = { run: ['ci/ok.sh'], postRun: ['ci/bad.sh', 'ci/last.sh'] };
      const { result, log } = await bench.submit(buildRequest(commit, scripts)).ended;
      expect(result.result).toBe('POST_FAILURE');
      expect(log).toContain('| last');
    });

    test('a job over its timeout is TIMED_OUT even when it ignores SIGTERM, and post-run has a timeout of its own', async () => {
      const commit = await bench.commit({
        'ci/slow.sh': script("trap 'echo asked to stop' TERM; echo begun; while :; do sleep 0.1; done"),
        'ci/post.sh': script('echo collected'),
      });
      const request = buildRequest(
        commit,
        { run: ['ci/slow.sh'], postRun: ['ci/post.sh'] },
        { jobFacts: { timeout: 1 } },
      );
      const { result, log } = await bench.submit(request).ended;
      expect(result).toMatchObject({
        result: 'TIMED_OUT',
        detail: 'run playbook ci/slow.sh ran into the timeout of the job',
      });
      expect(log).toContain('| asked to stop');
      expect(log).toContain('| collected');
      expect(result.execution?.steps.find(({ subject }) => subject === 'ci/slow.sh')?.result).toBe(
        'TIMED_OUT',
      );
    });

    test('a pre-run over the pre-timeout is tried again, and run has its own time', async () => {
      const commit = await bench.commit({
        'ci/slow.sh': script('sleep 600'),
        'ci/quick.sh': script('sleep 1.5; echo ran'),
      });
      const jobFacts = { timeout: 60, preTimeout: 1 };
      const slow = buildRequest(commit, { preRun: ['ci/slow.sh'], run: ['ci/quick.sh'] }, { jobFacts });
      expect((await bench.submit(slow).ended).result).toMatchObject({
        result: 'RETRY',
        detail: 'pre-run playbook ci/slow.sh ran into the timeout of the job',
      });
      const quick = buildRequest(commit, { run: ['ci/quick.sh'] }, { jobFacts });
      expect((await bench.submit(quick).ended).result.result).toBe('SUCCESS');
    });

    test('a cancelled job gets SIGTERM, ends as CANCELED, and post-run stays out', async () => {
      const commit = await bench.commit({
        'ci/slow.sh': script(
          "trap 'echo asked to stop; exit 0' TERM; echo begun; while :; do sleep 0.05; done",
        ),
        'ci/post.sh': script('echo NEVER'),
      });
      const build = bench.submit(buildRequest(commit, { run: ['ci/slow.sh'], postRun: ['ci/post.sh'] }));
      await build.logHolds('| begun');
      build.cancel();
      const { result, log } = await build.ended;
      expect(result.result).toBe('CANCELED');
      expect(log).toContain('| asked to stop');
      expect(log).not.toContain('NEVER');
    });

    test('a build whose claim is lost is killed and never answered', async () => {
      const commit = await bench.commit({ 'ci/slow.sh': script('echo begun; sleep 600') });
      const build = bench.submit(buildRequest(commit, { run: ['ci/slow.sh'] }));
      await build.logHolds('| begun');
      build.lose();
      await until(() => (bench.executor.running().length === 0 ? true : undefined), 'the build to end');
      const answered = await Promise.race([build.ended.then(() => 'answered'), Promise.resolve('silent')]);
      expect(answered).toBe('silent');
    });

    test.each([
      ['a path out of the project', '../ci/ok.sh', 'is not a path below the root of its project'],
      ['an absolute path', '/bin/true', 'is not a path below the root of its project'],
      ['a file that is not there', 'ci/none.sh', 'does not exist at commit'],
      ['a file that is not executable', 'ci/plain.txt', 'is not executable'],
      ['a directory', 'ci', 'is not a file'],
    ])('%s as a playbook is an ERROR that says so, and nothing runs', async (_what, path, reason) => {
      const commit = await bench.commit({
        'ci/ok.sh': script('echo NEVER'),
        'ci/plain.txt': 'x',
      });
      const { result, log } = await bench.submit(buildRequest(commit, { preRun: ['ci/ok.sh'], run: [path] }))
        .ended;
      expect(result.result).toBe('ERROR');
      expect(result.detail).toContain(reason);
      expect(log).not.toContain('| NEVER');
    });

    test('a playbook reached through a symbolic link out of its project is an ERROR', async () => {
      const commit = await bench.commit({ 'ci/ok.sh': script('true') });
      const link = (await bench.repository.raw(['hash-object', '-w', '--stdin'], '/bin')).toString().trim();
      const ok = await bench.repository.git('rev-parse', `${commit}:ci`);
      const tree = (
        await bench.repository.raw(['mktree'], `040000 tree ${ok}\tci\n120000 blob ${link}\tout\n`)
      )
        .toString()
        .trim();
      const linked = await bench.repository.git('commit-tree', tree, '-m', 'link');
      const { result } = await bench.submit(buildRequest(linked, { run: ['out/true'] })).ended;
      expect(result).toMatchObject({
        result: 'ERROR',
        detail: `playbook ${CANONICAL}/out/true leads out of its project by a symbolic link`,
      });
    });

    test('a job without a run playbook is an ERROR', async () => {
      const commit = await bench.commit({ 'ci/ok.sh': script('true') });
      expect((await bench.submit(buildRequest(commit, {})).ended).result).toMatchObject({
        result: 'ERROR',
        detail: 'job unit has no run playbook',
      });
    });

    test("a commit that cannot be checked out is the executor's failure: RETRY with the reason", async () => {
      const commit = await bench.commit({ 'ci/ok.sh': script('true') });
      const request = buildRequest(commit, { run: ['ci/ok.sh'] });
      const missing = {
        ...request,
        projects: request.projects.map(project => ({
          ...project,
          commit: 'f'.repeat(40) as typeof project.commit,
        })),
      };
      const { result } = await bench.submit(missing).ended;
      expect(result.result).toBe('RETRY');
      expect(result.detail).toContain('is not in the repository');
    });

    test("a playbook finds its environment, its variables file and the change's checkout", async () => {
      const commit = await bench.commit({
        'ci/env.sh': script(
          'pwd; env | sort; cat "$ZUUL_VARIABLES_FILE"; test -d "$ZUUL_SRC_DIR" -a -d "$ZUUL_LOG_DIR" -a -d "$ZUUL_WORK_DIR/artifacts"; echo dirs=$?',
        ),
      });
      const request = buildRequest(commit, { run: ['ci/env.sh'] });
      const { log } = await bench.submit(request).ended;
      const lines = log.split('\n').map(line => line.slice(line.indexOf(' | ') + 3));
      expect(lines).toEqual(
        expect.arrayContaining([
          'CI=true',
          'ZUUL_CHANGE=12',
          'ZUUL_BRANCH=main',
          `ZUUL_PROJECT=${CANONICAL}`,
          'ZUUL_PHASE=run',
          'ZUUL_ATTEMPT=1',
          `ZUUL_BUILD=${request.uuid}`,
          'dirs=0',
          'OTEL_SERVICE_NAME=unit',
          '    "greeting": "hello"',
          '      "hostname": "executor1",',
        ]),
      );
      expect(lines.some(line => line.endsWith(`/src/${CANONICAL}`) && line.startsWith('/'))).toBe(true);
      const names = lines.flatMap(line => /^([A-Z_]+)=/.exec(line)?.[1] ?? []);
      const known =
        /^(ZUUL_[A-Z_]+|GATEHOUSE_(VARIABLES|PROCESS|RETURN|STEPS?)|TRACEPARENT|TRACESTATE|BAGGAGE|OTEL_SERVICE_NAME|OTEL_RESOURCE_ATTRIBUTES|SSH_AUTH_SOCK|PATH|HOME|TMPDIR|USER|LOGNAME|LANG|CI|PWD|OLDPWD|SHLVL|_)$/;
      expect(names.filter(each => !known.test(each))).toEqual([]);
    });

    test('each playbook process gets its own span, and nothing when the item is not traced', async () => {
      const commit = await bench.commit({ 'ci/span.sh': script('echo "trace $TRACEPARENT"') });
      const request = buildRequest(commit, { preRun: ['ci/span.sh'], run: ['ci/span.sh'] });
      const { log } = await bench.submit(request).ended;
      const span = (ordinal: number) =>
        `00-${request.trace!.traceId}-${playbookSpanId(request.trace!.buildSpan, 'ci/span.sh', ordinal)}-01`;
      expect([...log.matchAll(/\| trace (.*)/g)].map(([, text]) => text)).toEqual([span(0), span(1)]);
      const silent = await bench.submit(buildRequest(commit, { run: ['ci/span.sh'] }, { trace: null })).ended;
      expect(silent.log).toMatch(/\| trace $/m);
    });

    test('the execution tiles the build with its steps, in order', async () => {
      const commit = await bench.commit({ 'ci/ok.sh': script('true') });
      const { result } = await bench.submit(buildRequest(commit, { preRun: ['ci/ok.sh'], run: ['ci/ok.sh'] }))
        .ended;
      const steps = result.execution?.steps ?? [];
      expect(steps.map(({ kind }) => kind).filter(kind => !kind.startsWith('Build'))).toEqual([
        'JobSetup',
        'JobSetup',
        'JobSetup',
        'Playbook',
        'JobSetup',
        'Playbook',
        'Cleanup',
      ]);
      expect(steps.filter(({ kind }) => kind === 'JobSetup').map(({ subject }) => subject)).toEqual([
        'directories',
        'unit',
        'sandbox',
        'sandbox',
      ]);
      let covered = BigInt(result.execution!.startedAt);
      for (const step of steps) {
        const gap = BigInt(step.startedAt) - covered;
        expect([step.kind, gap < 5_000_000n]).toEqual([step.kind, true]);
        if (BigInt(step.endedAt) > covered) covered = BigInt(step.endedAt);
      }
      expect(covered).toBe(BigInt(result.execution!.endedAt));
      for (const step of steps) {
        expect(BigInt(step.startedAt) <= BigInt(step.endedAt)).toBe(true);
        expect(BigInt(step.startedAt) >= BigInt(result.execution!.startedAt)).toBe(true);
        expect(BigInt(step.endedAt) <= BigInt(result.execution!.endedAt)).toBe(true);
      }
      expect(steps.at(-2)).toMatchObject({
        subject: 'ci/ok.sh',
        result: 'SUCCESS',
        facts: { phase: 'run', index: 0, exitCode: 0, trusted: false },
      });
    });

    test('no more than max_builds run at once, and a request for another label is left alone', async () => {
      const commit = await bench.commit({
        'ci/go.sh': script('echo begun; until [ -e "$ZUUL_LOG_DIR/go" ]; do sleep 0.02; done'),
      });
      const elsewhere = bench.submit(
        buildRequest(commit, { run: ['ci/go.sh'] }, { jobFacts: { nodes: [{ name: 'n', label: 'big' }] } }),
      );
      const builds = [1, 2, 3].map(() => bench.submit(buildRequest(commit, { run: ['ci/go.sh'] })));
      await builds[0]!.logHolds('| begun');
      await builds[1]!.logHolds('| begun');
      expect(
        bench.executor
          .running()
          .map(({ build }) => build)
          .toSorted(),
      ).toEqual([builds[0]!.request.uuid, builds[1]!.request.uuid].toSorted());
      builds[0]!.cancel();
      await builds[2]!.logHolds('| begun');
      for (const build of builds) build.cancel();
      await Promise.all(builds.map(({ ended }) => ended));
      expect(bench.executor.running().map(({ build }) => build)).not.toContain(elsewhere.request.uuid);
    });
  });
}

/** Builds that pause for those that depend on them: real processes. */
import { describe, expect, test } from 'vitest';
import { createBuildSlots, mostPaused } from '../../../src/executor/build-slots.ts';
import { randomIds } from '../../../src/lib/ids.ts';
import { buildRequest, openBench, script, until } from './fixture.ts';

const PAUSES = script(`gatehouse return '{"zuul": {"pause": true}, "port": 5000}'`);

describe('a build that returns pause', () => {
  test('waits between run and post-run, and has its slot taken by another meanwhile, also while the executor stops', async () => {
    await using bench = await openBench({ maxBuilds: 1 });
    const commit = await bench.commit({
      'ci/run.sh': PAUSES,
      'ci/child.sh': script('echo the child'),
      'ci/post.sh': script('echo tidied'),
    });
    const parent = bench.submit(buildRequest(commit, { run: ['ci/run.sh'], postRun: ['ci/post.sh'] }));
    await parent.logHolds('Job paused');
    const { buildset } = parent.request;
    const stranger = bench.submit(buildRequest(commit, { run: ['ci/child.sh'] }));
    expect((await stranger.ended).result.result).toBe('SUCCESS');
    expect(bench.executor.running()).toContainEqual(
      expect.objectContaining({ build: parent.request.uuid, paused: true }),
    );

    // Now only what the paused build waits for is taken.
    const stopped = bench.executor.stop('graceful');
    const late = bench.submit(buildRequest(commit, { run: ['ci/child.sh'] }));
    const child = bench.submit(buildRequest(commit, { run: ['ci/child.sh'] }, { buildset }));
    expect((await child.ended).result.result).toBe('SUCCESS');
    parent.resume();
    const { result, events, log } = await parent.ended;
    await stopped;
    expect(result.result, log).toBe('SUCCESS');
    expect(events.map(({ kind }) => kind)).toEqual(['build-started', 'build-paused']);
    expect(events[1]).toMatchObject({ returned: { data: { port: 5000 } } });
    expect(log.indexOf('Job resumed')).toBeLessThan(log.indexOf('tidied'));
    const steps = result.execution?.steps ?? [];
    expect(
      steps.filter(({ kind }) => kind === 'Pause' || kind === 'Playbook').map(({ kind }) => kind),
    ).toEqual(['Playbook', 'Pause', 'Playbook']);
    for (const [index, step] of steps.slice(1).entries()) expect(step.startedAt).toBe(steps[index]?.endedAt);
    expect(await Promise.race([late.ended, 'not taken'])).toBe('not taken');
  });

  test.each([
    ['cancelled', 'CANCELED'],
    ['stopped with its executor', 'RETRY'],
  ] as const)('and is %s meanwhile runs no post-run', async (how, expected) => {
    await using bench = await openBench({ maxBuilds: 1 });
    const commit = await bench.commit({ 'ci/run.sh': PAUSES, 'ci/post.sh': script('echo tidied') });
    const parent = bench.submit(buildRequest(commit, { run: ['ci/run.sh'], postRun: ['ci/post.sh'] }));
    await parent.logHolds('Job paused');
    if (how === 'cancelled') parent.cancel();
    else await bench.executor.stop('immediate');
    const { result, log } = await parent.ended;
    expect(result.result).toBe(expected);
    expect(result.workerEnd).toBe(how === 'cancelled' ? undefined : 'stopped');
    expect(log).not.toContain('tidied');
    expect(result.execution?.steps).toContainEqual(
      expect.objectContaining({ kind: 'Pause', result: 'ABORTED' }),
    );
  });

  test('and has failed does not pause', async () => {
    await using bench = await openBench({ maxBuilds: 1 });
    const commit = await bench.commit({ 'ci/run.sh': `${PAUSES}exit 1\n` });
    const { result, events } = await bench.submit(buildRequest(commit, { run: ['ci/run.sh'] })).ended;
    expect(result.result).toBe('FAILURE');
    expect(events.map(({ kind }) => kind)).not.toContain('build-paused');
  });

  test('whose claim is lost meanwhile reports nothing', async () => {
    await using bench = await openBench({ maxBuilds: 1 });
    const commit = await bench.commit({ 'ci/run.sh': PAUSES });
    const parent = bench.submit(buildRequest(commit, { run: ['ci/run.sh'] }));
    await parent.logHolds('Job paused');
    parent.lose();
    await until(() => (bench.executor.running().length === 0 ? true : undefined), 'the build to end');
    expect(await Promise.race([parent.ended, 'no result'])).toBe('no result');
  });
});

describe('the slots of an executor', () => {
  const { uuid } = randomIds();
  const request = (buildset = uuid()) => ({ uuid: uuid(), jobName: 'unit', buildset });

  test('are as many as builds may work, and a paused one keeps its own beside them', () => {
    const slots = createBuildSlots(1);
    const parent = slots.occupy(0, request(), '1' as never);
    expect(slots.admission(false)).toEqual({ kind: 'none' });
    parent.pause();
    expect(slots.admission(false)).toEqual({ kind: 'any', slot: 1 });
    const child = slots.occupy(1, request(), '1' as never);
    parent.resume();
    child.release();
    expect(slots.admission(false)).toEqual({ kind: 'none' });
    parent.release();
    expect(slots.admission(false)).toEqual({ kind: 'any', slot: 0 });
  });

  test('take no strangers where many builds pause, and what those wait for all the same', () => {
    const slots = createBuildSlots(1);
    const family = uuid();
    for (let slot = 0; slot < mostPaused(1); slot += 1)
      slots.occupy(slot, request(slot === 0 ? family : uuid()), '1' as never).pause();
    const admission = slots.admission(false);
    expect(admission).toMatchObject({ kind: 'family', slot: mostPaused(1) });
    expect(admission.kind === 'family' && admission.buildsets.has(family)).toBe(true);
  });
});

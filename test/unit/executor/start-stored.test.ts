/** What an executor does while the start of a build is being stored, and when it cannot be. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { placesOf } from '../../../src/executor/build-places.ts';
import { buildRequest, CANONICAL, openBench, script, until } from './fixture.ts';

const bench = await openBench({ sandbox: 'none' });
afterAll(() => bench[Symbol.asyncDispose]());

test('a workspace is made while the start of its build is being stored', async () => {
  const commit = await bench.commit({ 'ci/ok.sh': script('echo hello') });
  const request = buildRequest(commit, { run: ['ci/ok.sh'] });
  const { src } = placesOf(bench.executor.jobDir, request.uuid);
  const isMade = async () => existsSync(path.join(src, CANONICAL, 'ci/ok.sh')) || undefined;
  const build = bench.submit(request, async () => void (await until(isMade, 'the workspace to be made')));
  const { result, events } = await build.ended;
  expect(result.result).toBe('SUCCESS');
  expect(events.map(({ kind }) => kind)).toEqual(['build-started']);
});

test('a build whose start cannot be stored runs no playbook, reports nothing and leaves nothing', async () => {
  const commit = await bench.commit({ 'ci/mark.sh': script('touch "$ZUUL_LOG_DIR/mark"') });
  const lost = buildRequest(commit, { run: ['ci/mark.sh'] });
  const build = bench.submit(lost, async () => {
    throw new Error('the store is away');
  });
  let hasResult = false;
  void build.ended.then(() => {
    hasResult = true;
  });
  const log = await build.logHolds('RESULT: RETRY: the store is away');
  const places = placesOf(bench.executor.jobDir, lost.uuid);
  await until(() => !existsSync(places.work) || undefined, 'the workspace to be removed');
  // The slot is free again.
  const { result } = await bench.submit(buildRequest(commit, { run: ['ci/mark.sh'] })).ended;
  expect(result.result).toBe('SUCCESS');
  expect(log).not.toContain('RUN START');
  expect(hasResult).toBe(false);
  expect(bench.warnings.join('\n')).toContain('could not be reported');
});

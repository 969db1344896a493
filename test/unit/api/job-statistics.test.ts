import { expect, test } from 'vitest';
import { jobStatistics, jobsStatistics } from '../../../src/api/job-statistics.ts';
import type { Run } from '../../../src/history/recent-runs.ts';
import { projectKey } from '../../../src/model/project.ts';

const DAY = 86_400;

/** @param end seconds since 20 November 2026, midnight UTC. */
function run(end: number, seconds: number, more: Partial<Run> = {}): Run {
  const ns = (time: number) => `${1_795_132_800 + time}000000000`;
  return {
    job: 'unit-tests',
    result: 'SUCCESS',
    start_time: ns(end - seconds),
    end_time: ns(end),
    project_key: projectKey({ connection: 'local', name: 'acme/app' }),
    change: 'login',
    patchset: `${end}`,
    ref: 'refs/heads/for/master/login',
    newrev: null,
    ...more,
  };
}

test('a job is judged by what it says of changes; lost and cancelled builds are no verdict', () => {
  const runs = [
    run(DAY + 50, 40, { result: 'CANCELED' }),
    run(DAY + 40, 30),
    run(DAY + 30, 10),
    run(400, 20, { result: 'FAILURE', patchset: 'a' }),
    run(300, 20, { patchset: 'a' }),
    run(200, 90, { result: 'TIMED_OUT', patchset: 'b' }),
    run(100, 0, { result: 'RETRY', start_time: null }),
    run(0, 0, { result: 'SKIPPED', start_time: null, end_time: null }),
  ];
  const { total, days, counted, whole } = jobStatistics('unit-tests', runs, 100);
  expect({ counted, whole }).toEqual({ counted: 8, whole: true });
  expect(total).toEqual({
    builds: 8,
    passed: 3,
    failed: 2,
    flaky: 1,
    other: 3,
    p50_ms: 20_000,
    p95_ms: 30_000,
  });
  expect(days.map(({ day, builds, failed, flaky }) => [day, builds, failed, flaky])).toEqual([
    ['2026-11-21', 3, 0, 0],
    ['2026-11-20', 4, 2, 1],
  ]);
});

test('another job that passed with the change makes no failure flaky', () => {
  const runs = [run(2, 1, { job: 'lint', patchset: 'a' }), run(1, 1, { result: 'FAILURE', patchset: 'a' })];
  const { jobs, whole } = jobsStatistics(runs, 2);
  expect(whole).toBe(false);
  expect(jobs.map(({ job, passed, failed, flaky, p50_ms }) => [job, passed, failed, flaky, p50_ms])).toEqual([
    ['lint', 1, 0, 0, 1000],
    ['unit-tests', 0, 1, 0, null],
  ]);
});

/**
 * Questions to a history of 10^6 builds, as the web asks them, and how long the event loop of the service waits meanwhile. The
 * oracle: each answer has as many rows as it must.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { BuildFilter } from '../../src/history/filters.ts';
import { openHistory } from '../../src/history/history.ts';
import { openThreadedHistory } from '../../src/history/threaded-history.ts';
import { fillHistory } from '../unit/history/long-history.ts';
import type { Row } from './main.ts';

const BUILDS = 1_000_000;
const TIMES = 20;

const QUESTIONS: readonly (readonly [name: string, filter: Omit<BuildFilter, 'tenant'>, rows: number])[] = [
  ['builds', {}, 50],
  ['builds?limit=1000', { limit: 1000 }, 1000],
  ['builds?skip=10000', { skip: 10_000 }, 50],
  ['builds?idx_max=500000', { idxMax: 500_000 }, 50],
  ['builds?result=FAILURE', { result: ['FAILURE'] }, 50],
  ['builds?result=NOPE', { result: ['NOPE'] }, 0],
  ['builds?job_name=job-3', { jobName: ['job-3'] }, 50],
  ['builds?project=acme/p7', { project: ['acme/p7'] }, 50],
];

export async function benchHistory(): Promise<readonly Row[]> {
  const directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-bench-'));
  const file = path.join(directory, 'history.sqlite');
  try {
    await (await openHistory({ kind: 'sqlite', path: file })).close();
    fillHistory(file, BUILDS);
    const history = await openThreadedHistory({ kind: 'sqlite', path: file });
    await history.builds({ tenant: 'big' });
    const rows: Row[] = [];
    for (const [name, filter, expected] of QUESTIONS) {
      const lag = monitorEventLoopDelay({ resolution: 1 });
      lag.enable();
      const times: number[] = [];
      for (let time = 0; time < TIMES; time++) {
        const begun = performance.now();
        const found = await history.builds({ tenant: 'big', ...filter });
        times.push(performance.now() - begun);
        if (found.length !== expected) throw new Error(`${name} has ${found.length} rows, not ${expected}`);
      }
      lag.disable();
      rows.push({ name: `${name}, p50`, value: times.toSorted((a, b) => a - b)[TIMES / 2] ?? 0, unit: 'ms' });
      rows.push({ name: `${name}, event loop waited at most`, value: lag.max / 1e6, unit: 'ms' });
    }
    await history.close();
    return rows;
  } finally {
    await rm(directory, { recursive: true });
  }
}

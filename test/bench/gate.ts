/**
 * The whole service: a queue of approved changes with trivial jobs until all have landed, for each size of the queue with a service and
 * repositories of its own; then single proposals, whose latency counts. Real repositories, real hooks, the embedded store.
 *
 *     npm run bench gate
 *     GATEHOUSE_BENCH_GATE=20,200,1000 GATEHOUSE_BENCH_PROFILE=1 npm run bench gate
 *
 * Oracle: every change lands once, in order, and each state of the branch is the one before and the change's own file.
 */
import { loadavg } from 'node:os';
import { measureLatency } from './gate/latency.ts';
import { type GateFigures, runGate } from './gate/run-gate.ts';
import type { Row } from './main.ts';

const SIZES = (process.env.GATEHOUSE_BENCH_GATE ?? '20,200').split(',').map(Number);
const PROFILED = process.env.GATEHOUSE_BENCH_PROFILE !== undefined;

/** Bytes per change that make a row of their own. */
const LEAST_WRITTEN = 1000;

export async function benchGate(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const size of SIZES) {
    rows.push(...rowsOf(size, await runGate(size, PROFILED)));
  }
  const { pushToStep, endToNote } = await measureLatency();
  const quantiles = (name: string, values: readonly number[]): readonly Row[] =>
    [0.5, 0.95].map(q => ({ name: `${name}, p${q * 100}`, value: quantile(values, q), unit: 'ms' }));
  return [
    ...rows,
    ...quantiles('push returned → first line of the job', pushToStep),
    ...quantiles('job ended → note at the host', endToNote),
    { name: 'load average', value: loadavg()[0] ?? 0, unit: '' },
  ];
}

function rowsOf(size: number, figures: GateFigures): readonly Row[] {
  const row = (name: string, value: number, unit: string): Row => ({ name: `${size}: ${name}`, value, unit });
  const { seconds, byKind, profile = [] } = figures;
  return [
    row('landed, first approval → last landing', size / seconds, 'changes/s'),
    row('last job ended → last landing', figures.afterLastJob, 's'),
    row('moves of the branch', figures.branchMoves, 'pushes'),
    row('processor time of the service', figures.cpu, 'ms/change'),
    row('of it on the event loop', figures.loop, 'ms/change'),
    row('of it in the kernel', figures.kernel, 'ms/change'),
    row('processor time of helpers, git and jobs', figures.helpers, 'ms/change'),
    row('processes started', figures.processes, 'per change'),
    ...byKind.map(([what, each]) => row(`  ${what}`, each, 'per change')),
    row('requests to the code host', figures.roundTrips, 'per change'),
    row('store transactions', figures.transactions, 'per change'),
    row('written to the store', figures.bytes / 1000, 'kB/change'),
    ...figures.written
      .filter(({ bytes }) => bytes >= LEAST_WRITTEN)
      .map(({ what, operations, bytes }) =>
        row(`  ${operations.toFixed(1)} × ${what}`, bytes / 1000, 'kB/change'),
      ),
    row('load average', loadavg()[0] ?? 0, ''),
    ...profile.map(({ where, ms, share }) => row(`  ${(share * 100).toFixed(1)} % ${where}`, ms, 'ms')),
  ];
}

function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

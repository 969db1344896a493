/**
 * A site of many tenants in which nothing happens: how long the all-in-one service takes to start, first with an empty store and then
 * with stored layouts, and what it costs while idle. Real repositories on this machine's disk, the embedded store, the polls of the
 * git driver as they are by default.
 *
 *     GATEHOUSE_BENCH_TENANTS=50x40 GATEHOUSE_BENCH_IDLE=130 npm run bench tenants
 *     GATEHOUSE_BENCH_FLAGS="--cpu-prof --cpu-prof-dir=DIR" npm run bench tenants
 *
 * Oracle: each tenant has its projects; an idle service writes nothing, starts no process, and asks the host only for the refs of a
 * poll; a start with stored layouts reads no file of a repository.
 */
import { loadavg } from 'node:os';
import type { Row } from './main.ts';
import { startTenants, type Work } from './tenants/measure.ts';
import { makeTenantsSite } from './tenants/site.ts';

const [TENANTS = 0, PROJECTS = 0] = (process.env.GATEHOUSE_BENCH_TENANTS ?? '50x40').split('x').map(Number);
/** Seconds: two polls of each project. */
const IDLE = Number(process.env.GATEHOUSE_BENCH_IDLE ?? 130);

export async function* benchTenants(): AsyncGenerator<Row> {
  const size = { tenants: TENANTS, projects: PROJECTS };
  await using site = await makeTenantsSite(size);
  yield { name: `${TENANTS} tenants of ${PROJECTS} projects`, value: TENANTS * PROJECTS, unit: 'projects' };
  {
    await using service = await startTenants(site, size);
    yield* rowsOf('first start', service.start);
    await service.quiet();
    yield* rowsOf('first look at each project', await service.since());
  }
  await using service = await startTenants(site, size);
  yield* rowsOf('start with stored layouts', service.start);
  await service.quiet();
  const looked = await service.since();
  yield* rowsOf('first look at each project', looked);
  const read = ['git fetch', 'git cat-file', 'git ls-remote'].filter(
    kind => (service.start.processes[kind] ?? 0) + (looked.processes[kind] ?? 0) > 0,
  );
  if (read.length > 0) throw new Error(`a start with stored layouts runs ${read.join(', ')}`);
  await new Promise(resolve => setTimeout(resolve, IDLE * 1000));
  const idle = await service.since();
  const share = (milliseconds: number) => milliseconds / idle.seconds / 10;
  yield { name: 'idle: processor time of the service', value: share(idle.cpu), unit: '% of a core' };
  yield { name: 'idle: processor time of helpers and git', value: share(idle.helpers), unit: '% of a core' };
  yield {
    name: 'idle: requests to the code host',
    value: idle.roundTrips / idle.seconds,
    unit: 'per second',
  };
  yield { name: 'idle: store transactions', value: idle.transactions, unit: '' };
  yield { name: 'idle: store reads', value: idle.reads / idle.seconds, unit: 'per second' };
  yield { name: 'idle: longest hold of the event loop', value: idle.stall, unit: 'ms' };
  yield { name: 'idle: resident memory', value: idle.resident / 1e6, unit: 'MB' };
  yield { name: 'load average', value: loadavg()[0] ?? 0, unit: '' };
  if (idle.transactions > 0)
    throw new Error(`an idle service writes: ${Object.keys(idle.written).join(', ')}`);
  const started = Object.keys(idle.processes);
  if (started.length > 0) throw new Error(`an idle service starts ${started.join(', ')}`);
}

function rowsOf(name: string, work: Work): readonly Row[] {
  const row = (what: string, value: number, unit: string): Row => ({ name: `${name}: ${what}`, value, unit });
  return [
    row('time', work.seconds, 's'),
    row('processor time of the service', work.cpu / 1000, 's'),
    row('processor time of helpers and git', work.helpers / 1000, 's'),
    row('longest hold of the event loop', work.stall, 'ms'),
    ...Object.entries(work.processes).map(([kind, count]) => row(`  ${kind}`, count, 'processes')),
    row('requests to the code host', work.roundTrips, ''),
    row('store transactions', work.transactions, ''),
    row('store reads', work.reads, ''),
  ];
}

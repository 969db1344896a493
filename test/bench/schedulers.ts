/**
 * The same gates on one scheduler and on three, over a ZooKeeper that synchronises to disk: tenants with a gate each, in which approved
 * changes with trivial jobs land at the same time. Web, merger and executor are one process, each scheduler is one.
 *
 *     GATEHOUSE_BENCH_SCHEDULERS=6x20 npm run bench schedulers
 *
 * The machine has as many cores as it has: where git and jobs keep them busy, more schedulers land no more. What the schedulers
 * themselves could carry is seen in their processor time: all of it on one against that of the busiest of three.
 *
 * Oracle: every change lands once, in order; each state of a branch is the one before and the change's own file.
 */
import { loadavg } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { installPostReceiveHook } from '../../drivers/git/install-hook.ts';
import { freePort } from '../../src/cmd/quickstart/service-process.ts';
import { startZooKeeper, type ZooKeeperServer } from '../fake/zookeeper/server.ts';
import { checkLanded, makeChanges, pushChanges, tipOf, watchLandings } from './gate/landings.ts';
import { type Developed, helperTime, startGateService } from './gate/site.ts';
import type { Row } from './main.ts';
import { makeTenantsSite, tenantName } from './tenants/site.ts';
import { storeTraffic, TICKS } from './zookeeper-traffic.ts';

const [TENANTS = 0, CHANGES = 0] = (process.env.GATEHOUSE_BENCH_SCHEDULERS ?? '6x20').split('x').map(Number);
/** Milliseconds within which pipelines are spread over schedulers (`src/scheduler/fair-share.ts`), and then some. */
const SPREAD = 75_000;

export async function* benchSchedulers(): AsyncGenerator<Row> {
  const one = await measure(1);
  yield* rowsOf('one scheduler', one);
  const three = await measure(3);
  yield* rowsOf('three schedulers', three);
  yield { name: 'three against one: landed', value: three.rate / one.rate, unit: 'times as fast' };
  const capacity = Math.max(...one.schedulers) / Math.max(...three.schedulers);
  yield { name: 'three against one: processor time of the busiest', value: capacity, unit: 'times less' };
  yield { name: 'load average', value: loadavg()[0] ?? 0, unit: '' };
}

interface Measured {
  /** Changes per second. */
  readonly rate: number;
  /** Milliseconds of processor time per change: of each scheduler, of the process of the others, of its helpers with git and jobs, of ZooKeeper. */
  readonly schedulers: readonly number[];
  readonly others: number;
  readonly helpers: number;
  readonly zookeeper: number;
  /** Per change, at ZooKeeper. */
  readonly writes: number;
  readonly received: number;
  readonly bytes: number;
}

function rowsOf(name: string, measured: Measured): readonly Row[] {
  const row = (what: string, value: number, unit: string): Row => ({ name: `${name}: ${what}`, value, unit });
  return [
    row('landed', measured.rate, 'changes/s'),
    ...measured.schedulers.map(cpu => row('processor time of a scheduler', cpu, 'ms/change')),
    row('processor time of web, merger and executor', measured.others, 'ms/change'),
    row('processor time of helpers, git and jobs', measured.helpers, 'ms/change'),
    row('processor time of ZooKeeper', measured.zookeeper, 'ms/change'),
    row('ZooKeeper, written', measured.writes, 'transactions/change'),
    row('ZooKeeper, received', measured.received, 'packets/change'),
    row('ZooKeeper, received', measured.bytes / 1000, 'kB/change'),
  ];
}

async function measure(count: number): Promise<Measured> {
  await using stack = new AsyncDisposableStack();
  const zookeeper = stack.use(
    await startZooKeeper({ durable: true, tickMs: 2000, javaOptions: ['-Xmx512m'] }),
  );
  const port = await freePort(0);
  const site = stack.use(
    await makeTenantsSite({
      ...{ tenants: TENANTS, projects: 2, pollInterval: 3600, port, pipelines: ['gate'] },
      sections: [`[zookeeper]\nhosts = ${zookeeper.host}:${zookeeper.port}`],
    }),
  );
  const projects: Developed[] = [];
  for (let index = 0; index < TENANTS; index++) {
    const project = `${tenantName(index)}/app1`;
    const bare = path.join(site.repositories, `${project}.git`);
    const url = `http://127.0.0.1:${port}/api/connection/local/payload`;
    await installPostReceiveHook(bare, { url, token: 'bench', project });
    projects.push({ bare, clone: site.clone });
  }
  const starting = Array.from({ length: count }, () => startGateService(site.config, [], ['scheduler']));
  starting.push(startGateService(site.config, [], ['web', 'merger', 'executor']));
  const services = await Promise.all(starting);
  for (const service of services) stack.use(service);
  if (count > 1) await delay(SPREAD);
  await landAll(projects, 2, 'warm');
  const before = await figuresOf(services, zookeeper);
  const seconds = await landAll(projects, CHANGES, 'change');
  const after = await figuresOf(services, zookeeper);
  const all = TENANTS * CHANGES;
  const cpu = after.cpu.map((used, at) => (used - (before.cpu[at] ?? 0)) / all);
  return {
    rate: all / seconds,
    schedulers: cpu.slice(0, count),
    others: cpu[count] ?? Number.NaN,
    helpers: (after.helpers - before.helpers) / all,
    zookeeper: ((after.store.ticks - before.store.ticks) * 1000) / TICKS / all,
    writes: (after.store.writes - before.store.writes) / all,
    received: (after.store.received - before.store.received) / all,
    bytes: (after.store.bytes - before.store.bytes) / all,
  };
}

type Service = Awaited<ReturnType<typeof startGateService>>;

async function figuresOf(services: readonly Service[], zookeeper: ZooKeeperServer) {
  const answers = await Promise.all(services.map(service => service.ask('figures')));
  return {
    cpu: answers.map(({ user, system }) => user + system),
    helpers: await helperTime(answers.flatMap(answer => answer.helpers)),
    store: await storeTraffic(zookeeper),
  };
}

/** @returns seconds from the first push to the last landing. */
async function landAll(projects: readonly Developed[], count: number, name: string): Promise<number> {
  const gates: (() => Promise<number>)[] = [];
  for (const [index, project] of projects.entries()) {
    const own = `${name}-${index}-`;
    const commits = await makeChanges(project, count, own);
    const base = await tipOf(project);
    gates.push(async () => {
      const landings = watchLandings(project, own);
      await pushChanges(project, commits, own, true);
      const { last } = await landings.allLanded();
      await checkLanded(project, base, commits, own);
      return last;
    });
  }
  const begun = performance.now();
  const ends = await Promise.all(gates.map(gate => gate()));
  return (Math.max(...ends) - begun) / 1000;
}

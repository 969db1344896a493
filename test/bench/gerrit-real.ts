/**
 * A real Gerrit, given as for `npm run test:gerrit`, and the whole service in this process over a ZooKeeper: the work on which a Zuul
 * beside the same Gerrit can be measured, too.
 *
 *   patch set    a push has returned → the job's one step has begun; → our vote stands
 *   gate of n    first approval → last submit, with jobs that end at once; processor time of this process and of ZooKeeper; what
 *                reached that: writes, requests, bytes
 *   reset        a gate of ten whose head fails once all ten run
 *
 * Approvals go one after the other, as fast as Gerrit takes them, and count. Oracle: all land but the head that fails, which is
 * tested once; without a failure each is tested once.
 */
import { startZooKeeper, type ZooKeeperServer } from '../fake/zookeeper/server.ts';
import { askWell } from '../gerrit/real/account.ts';
import type { PushedChange } from '../gerrit/real/deeds.ts';
import { openRealWorld, type RealWorld } from '../gerrit/real/real-world.ts';
import { type GerritOfTests, startGerrit } from '../gerrit/real/start-gerrit.ts';
import { gerritLayout } from '../gerrit/stories/gerrit-layout.ts';
import type { Row } from './main.ts';
import { percentile } from './webhook.ts';
import { storeTraffic, TICKS } from './zookeeper-traffic.ts';

const PUSHED = 9;
const WARM_UP = 2;
const GATES = [1, 5, 10, 20];
const RESET = 10;

/** Row by row: it takes minutes. */
export async function* benchRealGerrit(): AsyncGenerator<Row> {
  await using stack = new AsyncDisposableStack();
  const gerrit = stack.use(await startGerrit());
  const zookeeper = stack.use(
    await startZooKeeper({ durable: true, tickMs: 2000, javaOptions: ['-Xmx512m'] }),
  );
  process.stdout.write(`  Gerrit ${gerrit.version}\n`);
  yield* await latencies(gerrit, zookeeper);
  for (const size of GATES) yield* await gate(gerrit, zookeeper, size);
  yield* await reset(gerrit, zookeeper);
}

function open(gerrit: GerritOfTests, { host, port }: ZooKeeperServer, name: string): Promise<RealWorld> {
  return openRealWorld(gerrit, `bench-${name}`, {
    store: { kind: 'zookeeper', host, port, root: `/bench-${name}` },
    layout: options => {
      const text = gerritLayout(options);
      return name === 'latency' ? text : text.replaceAll('check: {jobs: [unit]}', 'check: {jobs: []}');
    },
  });
}

async function latencies(gerrit: GerritOfTests, zookeeper: ZooKeeperServer): Promise<readonly Row[]> {
  await using world = await open(gerrit, zookeeper, 'latency');
  world.free();
  const ran = new Map<string, number>();
  world.stage.onCall(({ changes }) => ran.set(changes, performance.now()));
  const steps: number[] = [];
  const votes: number[] = [];
  for (let round = 0; round < PUSHED + WARM_UP; round++) {
    const change = await world.push({ subject: `Latency ${round}` });
    const pushed = performance.now();
    await world.observer.until('our vote', () => hasOurVote(gerrit, change));
    votes.push(performance.now() - pushed);
    steps.push((ran.get(String(change.number)) ?? Number.NaN) - pushed);
    await world.leaves(change, 'SUCCESS', 'check');
  }
  return [
    ...quantiles('push returned → first job step', steps.slice(WARM_UP)),
    ...quantiles('push returned → vote', votes.slice(WARM_UP)),
  ];
}

async function hasOurVote({ ask, ci }: GerritOfTests, { number }: PushedChange): Promise<boolean> {
  const detail = await askWell(ask, ci, 'GET', `changes/${number}/messages`);
  return JSON.stringify(detail).includes('Verified+1');
}

function quantiles(name: string, values: readonly number[]): readonly Row[] {
  return [
    { name: `${name}, p50 of ${values.length}`, value: percentile(values, 50), unit: 'ms' },
    { name: `${name}, slowest`, value: Math.max(...values), unit: 'ms' },
  ];
}

async function gate(
  gerrit: GerritOfTests,
  zookeeper: ZooKeeperServer,
  size: number,
): Promise<readonly Row[]> {
  await using world = await open(gerrit, zookeeper, `gate-${size}`);
  const changes = await pushed(world, size);
  world.free();
  const rows = await measured(`gate of ${size}: first approval → last submit`, zookeeper, async () => {
    for (const change of changes) await world.approve(change);
    for (const change of changes) await world.leaves(change, 'SUCCESS');
  });
  if (world.stage.builds.length !== size) throw new Error(`${world.stage.builds.length} builds for ${size}`);
  await mustBe('MERGED', world, changes);
  return rows;
}

async function reset(gerrit: GerritOfTests, zookeeper: ZooKeeperServer): Promise<readonly Row[]> {
  await using world = await open(gerrit, zookeeper, 'reset');
  const changes = await pushed(world, RESET);
  const [head, ...others] = changes;
  if (head === undefined) throw new Error('no change');
  world.fail('unit', head);
  const rows = await measured(`gate of ${RESET} whose head fails`, zookeeper, async () => {
    for (const change of changes) await world.approve(change);
    await world.observer.until('all to run', () => world.observer.running().length === RESET);
    world.free();
    await world.leaves(head, 'FAILURE');
    for (const change of others) await world.leaves(change, 'SUCCESS');
  });
  await mustBe('NEW', world, [head]);
  await mustBe('MERGED', world, others);
  return [...rows, { name: '  builds', value: world.stage.builds.length, unit: 'builds' }];
}

/** What checks have no jobs for. */
async function pushed(world: RealWorld, count: number): Promise<readonly PushedChange[]> {
  const changes: PushedChange[] = [];
  for (let at = 0; at < count; at++) changes.push(await world.push({ subject: `Gate ${at}` }));
  for (const change of changes) await world.leaves(change, 'NO_JOBS', 'check');
  return changes;
}

async function mustBe(status: string, world: RealWorld, changes: readonly PushedChange[]): Promise<void> {
  for (const change of changes) {
    const found = await world.status(change);
    if (found !== status) throw new Error(`change ${change.number} is ${String(found)}, not ${status}`);
  }
}

async function measured(
  name: string,
  zookeeper: ZooKeeperServer,
  work: () => Promise<void>,
): Promise<readonly Row[]> {
  const before = await storeTraffic(zookeeper);
  const cpu = process.cpuUsage();
  const begun = performance.now();
  await work();
  const seconds = (performance.now() - begun) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const after = await storeTraffic(zookeeper);
  return [
    { name, value: seconds, unit: 's' },
    { name: '  processor time of the service', value: (user + system) / 1e6, unit: 's' },
    { name: '  processor time of ZooKeeper', value: (after.ticks - before.ticks) / TICKS, unit: 's' },
    { name: '  ZooKeeper, written', value: after.writes - before.writes, unit: 'transactions' },
    { name: '  ZooKeeper, received', value: after.received - before.received, unit: 'packets' },
    { name: '  ZooKeeper, received', value: (after.bytes - before.bytes) / 1000, unit: 'kB' },
  ];
}

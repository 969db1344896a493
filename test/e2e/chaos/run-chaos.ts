/**
 * One chaos run: developers push changes, webhooks get lost and come twice, faults strike one after the other and sometimes two
 * at a time, all chosen by the seed. When all is healed and quiet, the standard oracle judges, and one more change lands.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { startZooKeeper, type ZooKeeperServer } from '../../fake/zookeeper/server.ts';
import { type Cluster, openCluster } from '../cluster/cluster.ts';
import { planChanges } from '../cluster/load.ts';
import { evidenceOf, problemsOf, untilQuiet } from '../cluster/outcome.ts';
import { seededRandom } from '../seeded-random.ts';
import { type Fault, faultsFor, type Site } from './faults.ts';

export interface ChaosRequest {
  readonly seed: number;
  readonly store: 'zookeeper' | 'embedded';
  /** Pushed besides those of bursts. */
  readonly changes: number;
  readonly faults: number;
  /** One line each time something happens. */
  print(line: string): void;
}

/** Share of pushes without a webhook, and of those with two. Polls find the first. */
const LOST = 0.15;
const DOUBLED = 0.3;
/** Milliseconds between pushes, and between faults, at most. */
const PUSH_PAUSE = 1_700;
const FAULT_PAUSE = 1_500;
/** Milliseconds; what two dozen changes take after many faults, on a machine that others keep busy. */
const QUIET_WITHIN = 240_000;
/** Seconds. */
const POLL_INTERVAL = 5;

/** @returns one sentence per thing that is not as it must be. */
export async function runChaos(request: ChaosRequest): Promise<readonly string[]> {
  await using stack = new AsyncDisposableStack();
  const zookeeper = request.store === 'zookeeper' ? stack.use(await startZooKeeper()) : undefined;
  const cluster = stack.use(
    await openCluster({
      store: zookeeper === undefined ? 'embedded' : addressOf(zookeeper),
      count: { scheduler: 3, merger: 2, executor: 2, web: 2 },
      codeHost: 'http',
      pollInterval: POLL_INTERVAL,
    }),
  );
  try {
    await cluster.start();
    await strikeAll(cluster, zookeeper, request);
    await untilQuiet(cluster, QUIET_WITHIN);
    // The site is well: another change goes through as if nothing had been.
    for (const change of planChanges(1, 'after')) await cluster.push(change);
    await untilQuiet(cluster, QUIET_WITHIN);
    const problems = await problemsOf(cluster, { landingOrder: 'any' });
    if (problems.length > 0) {
      const evidence = await evidenceOf(cluster, problems);
      request.print([...problems, ...evidence, cluster.describe()].join('\n'));
    }
    return problems;
  } catch (error) {
    request.print(`${error}\n${cluster.describe()}`);
    throw error;
  }
}

function addressOf({ port, dataDirectory }: ZooKeeperServer) {
  return { hosts: `127.0.0.1:${port}`, port, dataDirectory };
}

async function strikeAll(
  cluster: Cluster,
  zookeeper: ZooKeeperServer | undefined,
  { seed, changes, faults, print }: ChaosRequest,
): Promise<void> {
  // Streams of their own: how long a push takes does not change which fault comes next.
  const pushing = seededRandom(seed);
  const striking = seededRandom(seed + 1);
  let bursts = 0;
  const site: Site = {
    cluster,
    zookeeper,
    random: striking,
    async burst(count) {
      bursts += 1;
      await cluster.pushTogether(planChanges(count, `burst${bursts}-`));
    },
  };
  const flow = (async () => {
    for (const change of planChanges(changes)) {
      const roll = pushing();
      await cluster.push(change, roll < LOST ? 'never' : roll < LOST + DOUBLED ? 'twice' : 'once');
      await delay(pushing() * PUSH_PAUSE);
    }
  })();
  flow.catch(() => {}); // awaited below
  const under: Promise<void>[] = [];
  for (const fault of deal(faultsFor(zookeeper), faults, striking)) {
    const done = fault.strike(site).then(what => print(`  ${fault.name}: ${what}`));
    done.catch(() => {}); // awaited below
    under.push(done);
    // One at a time, or with the next one.
    if (striking() < 2 / 3 || faultsOverlapBadly(fault)) await Promise.all(under.splice(0));
    await delay(striking() * FAULT_PAUSE);
  }
  await Promise.all(under);
  await flow;
}

/** Faults of the host replace one another, and a process is struck by one at a time. */
function faultsOverlapBadly({ name }: Fault): boolean {
  return !/^(burst|flood|a stranger)/.test(name);
}

/** Each kind once before one comes again. */
function deal(kinds: readonly Fault[], count: number, random: () => number): readonly Fault[] {
  const dealt: Fault[] = [];
  while (dealt.length < count) {
    const round = kinds.map(fault => ({ fault, place: random() }));
    dealt.push(...round.sort((a, b) => a.place - b.place).map(({ fault }) => fault));
  }
  return dealt.slice(0, count);
}

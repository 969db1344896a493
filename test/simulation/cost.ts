/**
 * What a landed change costs, counted: writes to the store, what is read there, requests to the code host. Changes of one project with a
 * queue of its own are proposed and approved in one push; nothing goes wrong, so the window grows with each that lands, and what an item is
 * tested behind grows with the window. The cost of each must not depend on how many there are.
 */
import type { StoredNode } from '../../src/store/port.ts';
import { operationBytes } from '../../src/store/size.ts';
import { installGlobals } from './kernel/globals.ts';
import { unrest } from './quiet.ts';
import { landed, ready } from './scenario.ts';
import { Sometimes } from './sometimes.ts';
import { World } from './world.ts';

/** Per landed change. */
export interface Cost {
  readonly transactions: number;
  /** Paths, data and framing of all operations. */
  readonly bytes: number;
  /** By what is written, e.g. `set items/*`, the largest first. */
  readonly bytesOf: Readonly<Record<string, number>>;
  /** Data of the nodes that were read from the store. */
  readonly bytesRead: number;
  /** To the code host. */
  readonly requests: number;
  readonly pushes: number;
}

const PROJECT = 'org/docs';
/** Virtual milliseconds. */
const JOB: readonly [number, number] = [500, 500];
const DEADLINE = 10_000_000;

/** @throws Error when not all land. */
export async function costOf(count: number): Promise<Cost> {
  const world = new World({
    seed: 1,
    sometimes: new Sometimes(),
    jobs: JOB,
    processes: { scheduler: 1, merger: 1, executor: 1, web: 1, sender: 1 },
  });
  using _globals = installGlobals(world.kernel);
  world.startAll();
  await until(world, () => ready(world));
  await land(world, ['first']);
  const counted = counting(world);
  await land(
    world,
    Array.from({ length: count }, (_, index) => `change${String(index).padStart(4, '0')}`),
  );
  const cost = counted(count);
  await world.dispose();
  return cost;
}

async function until(world: World, holds: () => boolean): Promise<void> {
  const end = await world.kernel.run(holds, world.kernel.now + DEADLINE);
  if (end !== 'met') throw new Error(`${end}: ${unrest(world).join('; ')}`);
}

async function land(world: World, topics: readonly string[]): Promise<void> {
  const { host, people } = world;
  const { onPush } = host;
  host.onPush = () => {};
  for (const topic of topics) {
    people.propose(PROJECT, topic);
    people.approve(PROJECT, topic);
  }
  host.onPush = onPush;
  onPush(PROJECT);
  await until(world, () => unrest(world).length === 0 && landed(world, PROJECT, topics.at(-1) ?? ''));
  const missing = topics.filter(topic => !landed(world, PROJECT, topic));
  if (missing.length > 0) throw new Error(`not landed: ${missing.join(', ')}`);
}

/** Counts from now on. */
function counting(world: World): (landings: number) => Cost {
  const bytesOf = new Map<string, number>();
  const [transactionsBefore, landingsBefore] = [world.server.log.length, world.host.landings.length];
  let bytes = 0;
  let bytesRead = 0;
  let requests = 0;
  world.server.observers.push(({ operations }) => {
    for (const operation of operations) {
      const size = operationBytes(operation);
      const what = `${operation.kind} ${placeOf(operation.path)}`;
      bytesOf.set(what, (bytesOf.get(what) ?? 0) + size);
      bytes += size;
    }
  });
  const { server } = world;
  const read = server.read.bind(server);
  server.read = (session, reading) => {
    const value = read(session, reading);
    bytesRead += dataOf(value);
    return value;
  };
  world.kernel.onPoint = ({ label }, phase) => {
    if (phase === 'before' && label.startsWith('host ')) requests += 1;
  };
  return landings => ({
    transactions: (world.server.log.length - transactionsBefore) / landings,
    bytes: bytes / landings,
    bytesOf: Object.fromEntries(
      [...bytesOf].map(([what, all]) => [what, all / landings] as const).toSorted(([, a], [, b]) => b - a),
    ),
    bytesRead: bytesRead / landings,
    requests: requests / landings,
    pushes: (world.host.landings.length - landingsBefore) / landings,
  });
}

/** The last two names, without what distinguishes one record from another. */
function placeOf(path: string): string {
  return path
    .split('/')
    .slice(-2)
    .map(name => (/[0-9%]/.test(name) ? '*' : name))
    .join('/');
}

/** Bytes of the nodes in an answer of the store; names have none. */
function dataOf(answer: unknown): number {
  if (Array.isArray(answer)) return answer.reduce((sum: number, each) => sum + dataOf(each), 0);
  return isNode(answer) ? answer.data.length : 0;
}

function isNode(value: unknown): value is StoredNode {
  return typeof value === 'object' && value !== null && 'data' in value && value.data instanceof Uint8Array;
}

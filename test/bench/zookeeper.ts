/**
 * The session of `src/store/zookeeper` against the client it wraps, used as its own documentation says: the same work on the same
 * server, in turns, so that a slow moment of the machine hits both. The wrapper must not be slower (ratio at least 1).
 */
import { once } from 'node:events';
import { type Client, createClient } from 'node-zookeeper-client';
import { systemClock } from '../../src/lib/clock.ts';
import { ensureNode } from '../../src/store/ensure-node.ts';
import { type Operation, type Store, set } from '../../src/store/port.ts';
import { openZooKeeper } from '../../src/store/zookeeper/source.ts';
import { SILENT } from '../fake/silent-log.ts';
import { startZooKeeper } from '../fake/zookeeper/server.ts';
import type { Row } from './main.ts';

const NODES = 500;
const DATA = Buffer.alloc(1024, 1);
/** How long each side works in each turn, milliseconds, and how often. */
const TURN_MS = 150;
const TURNS = 16;

const path = (index: number): string => `/bench/${index % NODES}`;

interface Work {
  readonly name: string;
  readonly ours: (index: number) => Promise<unknown>;
  readonly raw: (index: number) => Promise<unknown>;
  /** What one call is worth. */
  readonly each: number;
  readonly unit: string;
}

export async function benchZooKeeper(): Promise<readonly Row[]> {
  await using server = await startZooKeeper({ durable: true, tickMs: 2000, javaOptions: ['-Xmx512m'] });
  await using source = openZooKeeper({
    hosts: [server],
    sessionTimeoutMs: 30_000,
    auth: undefined,
    tls: undefined,
    clock: systemClock(),
    log: SILENT,
    random: Math.random,
  });
  const store = await source.connect('bench');
  const raw = createClient(`${server.host}:${server.port}`, { sessionTimeout: 30_000 });
  raw.connect();
  await once(raw, 'connected');
  for (let index = 0; index < NODES; index++) await ensureNode(store, path(index));
  await store.multi(Array.from({ length: NODES }, (_, index) => set(path(index), DATA)));
  const rows: Row[] = [];
  for (const work of works(store, raw))
    for (const outstanding of [1, 128]) rows.push(...(await compare(work, outstanding)));
  rows.push(...(await benchLoad(store, raw)));
  raw.close();
  return rows;
}

function works(store: Store, raw: Client): readonly Work[] {
  const ten = (index: number): readonly Operation[] =>
    Array.from({ length: 10 }, (_, at) => set(path(index * 10 + at), DATA));
  return [
    {
      name: 'set of 1 KiB',
      ours: index => store.multi([set(path(index), DATA)]),
      raw: index => called(done => raw.setData(path(index), DATA, -1, done)),
      each: 1,
      unit: 'set/s',
    },
    {
      name: 'multi of 10 sets of 1 KiB',
      ours: index => store.multi(ten(index)),
      raw: index =>
        called(done => {
          const transaction = raw.transaction();
          for (const operation of ten(index)) transaction.setData(operation.path, DATA, -1);
          transaction.commit(done);
        }),
      each: 1,
      unit: 'multi/s',
    },
    {
      name: 'get of 1 KiB',
      ours: index => store.get(path(index)),
      raw: index => called(done => raw.getData(path(index), done)),
      each: 1,
      unit: 'get/s',
    },
  ];
}

/** Reading many nodes, as when a scheduler starts: getMany against as many gets at once. */
async function benchLoad(store: Store, raw: Client): Promise<readonly Row[]> {
  const paths = Array.from({ length: NODES }, (_, index) => path(index));
  return await compare(
    {
      name: `load of ${NODES} nodes`,
      ours: () => store.getMany(paths),
      raw: () => Promise.all(paths.map(each => called(done => raw.getData(each, done)))),
      each: NODES,
      unit: 'nodes/s',
    },
    1,
  );
}

async function compare(work: Work, outstanding: number): Promise<readonly Row[]> {
  const ours: Turn[] = [];
  const raw: Turn[] = [];
  for (let turn = 0; turn <= TURNS; turn++) {
    // Who goes first changes: the second finds a busier machine, or a warmer one.
    const rawFirst = turn % 2 === 0;
    const first = await rate(rawFirst ? work.raw : work.ours, outstanding);
    const second = await rate(rawFirst ? work.ours : work.raw, outstanding);
    const [one, two] = rawFirst ? [first, second] : [second, first];
    // The first turn warms both up.
    if (turn === 0) continue;
    raw.push(one);
    ours.push(two);
  }
  const name = `${work.name}, ${outstanding} outstanding`;
  const perSecond = (turns: readonly Turn[]) => median(turns.map(turn => turn.perSecond)) * work.each;
  const cpu = (turns: readonly Turn[]) => median(turns.map(turn => turn.cpuMicroseconds)) / work.each;
  const ratios = ours.map((turn, index) => turn.perSecond / (raw[index]?.perSecond ?? 1));
  return [
    { name, value: perSecond(ours), unit: work.unit },
    { name: `${name}, by the bare client`, value: perSecond(raw), unit: work.unit },
    { name: `${name}: ratio`, value: median(ratios), unit: 'times' },
    { name: `${name}: processor time, ratio`, value: cpu(ours) / cpu(raw), unit: 'times' },
  ];
}

interface Turn {
  readonly perSecond: number;
  /** Of this process, per call. */
  readonly cpuMicroseconds: number;
}

async function rate(call: (index: number) => Promise<unknown>, outstanding: number): Promise<Turn> {
  let calls = 0;
  const cpu = process.cpuUsage();
  const started = performance.now();
  const worker = async (): Promise<void> => {
    while (performance.now() - started < TURN_MS) await call(calls++);
  };
  await Promise.all(Array.from({ length: outstanding }, worker));
  const { user, system } = process.cpuUsage(cpu);
  const seconds = (performance.now() - started) / 1000;
  return { perSecond: calls / seconds, cpuMicroseconds: (user + system) / calls };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function called(start: (done: (error: unknown) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => start(error => (error ? reject(error) : resolve())));
}

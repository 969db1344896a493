/**
 * A gate reset until it is durable and its cancels are visible: decide, compose the operations, commit them under the fence, in
 * the embedded store on a real file and in a ZooKeeper server that synchronises each write. Counts transactions and bytes; the
 * oracle is what the store holds afterwards.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { systemClock } from '../../src/lib/clock.ts';
import { openEmbeddedStore } from '../../src/store/embedded/server.ts';
import type { Store } from '../../src/store/port.ts';
import { openZooKeeper } from '../../src/store/zookeeper/source.ts';
import { SILENT } from '../fake/silent-log.ts';
import { startZooKeeper } from '../fake/zookeeper/server.ts';
import { type Gate, gateOf } from './gate-reset.ts';
import type { Row } from './main.ts';
import { storedGate } from './stored-gate.ts';

const SIZES: readonly (readonly [string, () => Gate])[] = [
  ['20 items × 10 jobs', () => gateOf(20, 10, 20)],
  ['1 000 items × 2 jobs, no window', () => gateOf(1000, 2, 0)],
  ['5 000 items × 2 jobs, no window', () => gateOf(5000, 2, 0)],
];

export async function benchDurableReset(): Promise<readonly Row[]> {
  return [...(await onEmbedded()), ...(await onZooKeeper())];
}

async function onEmbedded(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  // Before the others, which find the code compiled.
  const first = await embedded(store => measure(store, gateOf(20, 10, 20)));
  rows.push({
    name: 'durable reset, 20 items × 10 jobs: the first of a process',
    value: first.elapsed,
    unit: 'ms',
  });
  rows.push(warmRow('', await embedded(store => warmMedian(store, '/warm'))));
  for (const [label, gate] of SIZES)
    rows.push(...(await embedded(async store => rowsOf(label, await measure(store, gate())))));
  return rows;
}

async function embedded<T>(use: (store: Store) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-reset-'));
  const server = openEmbeddedStore({ file: path.join(directory, 'store.sqlite') });
  try {
    return await use(server.connect());
  } finally {
    await server.close();
    await rm(directory, { recursive: true, force: true });
  }
}

async function onZooKeeper(): Promise<readonly Row[]> {
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
  const rows: Row[] = [];
  rows.push(warmRow(', ZooKeeper', await warmMedian(await source.connect('warm'), '/warm')));
  for (const [index, [label, gate]] of SIZES.entries()) {
    const store = await source.connect('bench');
    rows.push(...rowsOf(`${label}, ZooKeeper`, await measure(store, gate(), `/bench-${index}`)));
    await store.close();
  }
  return rows;
}

interface Figures {
  readonly elapsed: number;
  readonly transactions: number;
  readonly bytes: number;
}

async function measure(store: Store, gate: Gate, root?: string): Promise<Figures> {
  const stored = await storedGate(store, gate, root);
  const begun = performance.now();
  const { transactions, bytes } = await stored.reset();
  const elapsed = performance.now() - begun;
  await stored.check();
  return { elapsed, transactions, bytes };
}

/** Resets in a row, of which the last half counts: a scheduler that has worked for an hour has compiled what it needs. */
const IN_A_ROW = 30;

async function warmMedian(store: Store, root: string): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < IN_A_ROW; index++)
    times.push((await measure(store, gateOf(20, 10, 20), `${root}-${index}`)).elapsed);
  const last = times.slice(IN_A_ROW / 2).toSorted((a, b) => a - b);
  return last[Math.floor(last.length / 2)] ?? Number.NaN;
}

function warmRow(where: string, value: number): Row {
  return {
    name: `durable reset, 20 items × 10 jobs${where}: median of a process at work`,
    value,
    unit: 'ms',
  };
}

function rowsOf(label: string, { elapsed, transactions, bytes }: Figures): readonly Row[] {
  return [
    { name: `durable reset, ${label}: until committed`, value: elapsed, unit: 'ms' },
    { name: `durable reset, ${label}: transactions`, value: transactions, unit: 'transactions' },
    { name: `durable reset, ${label}: written`, value: bytes, unit: 'bytes' },
  ];
}

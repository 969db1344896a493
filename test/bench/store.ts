/**
 * How fast the embedded store makes things durable. Each figure is a rate over a fixed time, on a file in the system's
 * folder for temporary files; the unit says what file system that is, because the flush to disk is most of it.
 *
 *     node test/bench/store.ts
 */
import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openEmbeddedStore } from '../../src/store/embedded/server.ts';
import { create, type Store, set } from '../../src/store/port.ts';

export interface StoreBenchRow {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}

const MEASURED_MS = 900;
const WARM_UP_MS = 200;
const KIBIBYTE = new Uint8Array(1024).fill(120);

/** statfs's magic numbers of the usual ones. */
const FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0xef53, 'ext4'],
  [0x01021994, 'tmpfs'],
  [0x58465342, 'xfs'],
  [0x9123683e, 'btrfs'],
  [0x794c7630, 'overlayfs'],
]);

export async function benchStore(): Promise<readonly StoreBenchRow[]> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-bench-'));
  try {
    const { type } = await statfs(folder);
    const fileSystem = FILE_SYSTEMS.get(type) ?? `type 0x${type.toString(16)}`;
    return await measure(join(folder, 'store.db'), fileSystem);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function measure(file: string, fileSystem: string): Promise<readonly StoreBenchRow[]> {
  const server = openEmbeddedStore({ file });
  const store = server.connect();
  const places = Array.from({ length: 128 }, (_, index) => `/s/${index}`);
  await store.multi([create('/n'), create('/s'), ...places.map(path => create(path))]);
  const append = (): Promise<unknown> => store.multi([create('/n/', KIBIBYTE, { sequential: true })]);
  const replace = (index: number): Promise<unknown> => store.multi([set(places[index] ?? '/s', KIBIBYTE)]);
  const hundred = places.slice(0, 100).map(path => set(path, KIBIBYTE));

  const rows: StoreBenchRow[] = [];
  const add = (name: string, value: number, unit: string): void => {
    rows.push({ name, value: Math.round(value * 100) / 100, unit });
  };
  add('store create 1 KiB, 1 outstanding', await rate(1, append), `durable creates/s on ${fileSystem}`);
  add('store create 1 KiB, 128 outstanding', await rate(128, append), `durable creates/s on ${fileSystem}`);
  add('store set 1 KiB, 1 outstanding', await rate(1, replace), `durable sets/s on ${fileSystem}`);
  add('store set 1 KiB, 128 outstanding', await rate(128, replace), `durable sets/s on ${fileSystem}`);
  add(
    'store multi of 100 sets of 1 KiB',
    1000 / (await rate(1, () => store.multi(hundred))),
    `ms on ${fileSystem}`,
  );
  add('store get 1 KiB', 1_000_000 / (await rateOfReads(store)), 'µs');
  const nodes = (await store.children('/n'))?.length ?? 0;
  await server.close();
  const started = performance.now();
  await openEmbeddedStore({ file }).close();
  add(`store reopened with ${nodes} nodes`, performance.now() - started, 'ms');
  return rows;
}

/** Calls per second with that many under way at once. */
async function rate(outstanding: number, call: (index: number) => Promise<unknown>): Promise<number> {
  const started = performance.now() + WARM_UP_MS;
  const end = started + MEASURED_MS;
  let done = 0;
  const lane = async (index: number): Promise<void> => {
    for (let now = performance.now(); now < end; now = performance.now()) {
      await call(index);
      if (now >= started) done += 1;
    }
  };
  await Promise.all(Array.from({ length: outstanding }, (_, index) => lane(index)));
  return done / ((performance.now() - started) / 1000);
}

async function rateOfReads(store: Store): Promise<number> {
  const started = performance.now();
  const calls = 50_000;
  for (let at = 0; at < calls; at++) await store.get(`/s/${at % 128}`);
  return calls / ((performance.now() - started) / 1000);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const { name, value, unit } of await benchStore())
    process.stdout.write(`${name.padEnd(44)} ${value} ${unit}\n`);
}

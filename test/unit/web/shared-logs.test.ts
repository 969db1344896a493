import { beforeEach, expect, test } from 'vitest';
import type { LogQuestion } from '../../../src/web/deps.ts';
import { type SharedLogs, sharedLogs } from '../../../src/web/log-stream/shared-logs.ts';

const BUILD = 'a'.repeat(32);
const CHUNK = 262_144;

let now = 0;
let reads: string[] = [];
let log: Buffer | undefined;
let complete = false;
let logs: SharedLogs;

beforeEach(() => {
  now = 0;
  reads = [];
  log = Buffer.alloc(0);
  complete = false;
  logs = open();
});

function open(keptBytes?: number): SharedLogs {
  const clock = { monotonic: () => now };
  async function readLog({ offset, limit }: LogQuestion) {
    reads.push(`${offset}+${limit}`);
    if (log === undefined) return undefined;
    const bytes = log.subarray(offset, offset + limit);
    return { bytes, complete: complete && offset + bytes.length >= log.length };
  }
  return sharedLogs({ readLog, clock }, keptBytes);
}

const read = (offset: number, limit = 65_536) => logs.read({ build: BUILD, worker: null, offset, limit });
const text = async (offset: number, limit?: number) => {
  const piece = await read(offset, limit);
  return piece === undefined ? undefined : [Buffer.from(piece.bytes).toString(), piece.complete];
};

test('a hundred readers at once cost one read, and so do those who come while it is fresh', async () => {
  log = Buffer.from('first\n');
  const pieces = await Promise.all(Array.from({ length: 100 }, () => text(0)));
  expect(new Set(pieces.map(piece => JSON.stringify(piece)))).toEqual(new Set(['["first\\n",false]']));
  now = 199;
  expect(await text(6)).toEqual(['', false]);
  expect(reads).toEqual(['0+262144']);
});

test('of a growing log only what came since is read again', async () => {
  log = Buffer.from('first\n');
  await text(0);
  log = Buffer.from('first\nsecond\n');
  complete = true;
  now = 200;
  expect(await text(6)).toEqual(['second\n', true]);
  now = 10_000;
  expect(await text(0, 8)).toEqual(['first\nse', false]);
  expect(await text(0)).toEqual(['first\nsecond\n', true]);
  expect(reads).toEqual(['0+262144', '6+262138']);
});

test('a piece may reach over chunks, of which each is read once for all readers', async () => {
  log = Buffer.concat([Buffer.alloc(CHUNK, 'a'), Buffer.alloc(CHUNK, 'b')]);
  complete = true;
  const piece = await read(CHUNK - 2, 4);
  expect([Buffer.from(piece?.bytes ?? []).toString(), piece?.complete]).toEqual(['aabb', false]);
  expect((await read(0, 3 * CHUNK))?.bytes).toHaveLength(2 * CHUNK);
  expect(await text(2 * CHUNK)).toEqual(['', true]);
  expect(await text(5 * CHUNK)).toEqual(['', true]);
  expect(reads).toHaveLength(4);
});

test('a log that is not there yet is looked for again, and what was read stays while its executor is away', async () => {
  log = undefined;
  expect(await text(0)).toBeUndefined();
  log = Buffer.from('here');
  expect(await text(0)).toBeUndefined();
  now = 200;
  expect(await text(0)).toEqual(['here', false]);
  log = undefined;
  now = 400;
  expect(await text(0)).toEqual(['here', false]);
});

test('what is kept is bounded: the chunk that was used last stays', async () => {
  logs = open(CHUNK + 1000);
  log = Buffer.alloc(2 * CHUNK, 'a');
  await read(0);
  await read(CHUNK);
  await read(CHUNK);
  await read(0);
  expect(reads).toHaveLength(3);
});

test('a read that fails is not kept', async () => {
  let fails = true;
  logs = sharedLogs({
    clock: { monotonic: () => now },
    readLog: async () => {
      if (fails) throw new Error('away');
      return { bytes: Buffer.from('back'), complete: true };
    },
  });
  await expect(read(0)).rejects.toThrow('away');
  fails = false;
  expect(await text(0)).toEqual(['back', true]);
});

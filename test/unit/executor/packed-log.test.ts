/** Logs of builds that have ended, packed: the same bytes from any offset, and one gzip file for any program. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fetchLog, fetchPackedLog } from '../../../src/executor/log-client.ts';
import { completeMarkOf, logPathOf } from '../../../src/executor/log-file.ts';
import { startLogServer } from '../../../src/executor/log-server.ts';
import { startLogKeeper } from '../../../src/executor/log-store/log-keeper.ts';
import { packLog } from '../../../src/executor/log-store/pack-log.ts';
import { BLOCK, parseLogIndex } from '../../../src/executor/log-store/packed-log.ts';
import { openPackedLog, readBuildLog } from '../../../src/executor/log-store/read-log.ts';
import { derivedUuid } from '../../../src/lib/ids.ts';
import { SILENT } from '../../fake/silent-log.ts';

const BUILD = derivedUuid('one');
let logDir: string;

beforeEach(async () => {
  logDir = await mkdtemp(join(tmpdir(), 'gatehouse-packed-'));
});
afterEach(() => rm(logDir, { recursive: true }));

async function write(bytes: Uint8Array, build = BUILD): Promise<void> {
  const path = logPathOf(logDir, build);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, bytes);
  await writeFile(completeMarkOf(path), '');
}

/** Lines that differ, as those of a log. */
function logOf(bytes: number): Buffer {
  const lines = Array.from({ length: Math.ceil(bytes / 20) }, (_, at) => `${at * 7919} compiled a.c\n`);
  return Buffer.from(lines.join('')).subarray(0, bytes);
}

const names = () => readdir(join(logDir, BUILD));

test('a packed log reads as it was, from any offset, and is gone as a plain one', async () => {
  for (const bytes of [0, 1, BLOCK, 2 * BLOCK + 4711]) {
    const log = logOf(bytes);
    await write(log);
    await packLog(logDir, BUILD);
    expect((await names()).toSorted()).toEqual([
      'job-output.txt.complete',
      'job-output.txt.gz',
      'job-output.txt.index.json',
    ]);
    expect(gunzipSync(await readFile(join(logDir, BUILD, 'job-output.txt.gz'))).equals(log)).toBe(true);
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes + 10), fc.integer({ min: 1, max: 2 * BLOCK }), async (offset, limit) => {
        const part = await readBuildLog(logDir, BUILD, offset, limit);
        expect(part?.bytes.equals(log.subarray(offset, offset + limit))).toBe(true);
        expect(part?.next).toBe(Math.min(bytes, offset + limit));
        expect(part?.complete).toBe(offset + limit >= bytes);
      }),
      { numRuns: 8 },
    );
  }
});

test('a packing that was cut off is done again, and until then the log is read as it is', async () => {
  const log = logOf(2 * BLOCK);
  await write(log);
  await writeFile(join(logDir, BUILD, 'job-output.txt.gz.1234.part'), 'half');
  await writeFile(join(logDir, BUILD, 'job-output.txt.gz'), 'of an index that was never written');
  expect(await openPackedLog(logDir, BUILD)).toBeUndefined();
  expect((await readBuildLog(logDir, BUILD, 0, 100))?.bytes.equals(log.subarray(0, 100))).toBe(true);
  await packLog(logDir, BUILD);
  expect(
    (await readBuildLog(logDir, BUILD, BLOCK, 100))?.bytes.equals(log.subarray(BLOCK, BLOCK + 100)),
  ).toBe(true);
  expect(await packLog(logDir, BUILD)).toBeUndefined();
});

test('an index that does not fit is an error, and no wrong text', async () => {
  await write(logOf(BLOCK + 1));
  const index = await packLog(logDir, BUILD);
  const wrong = { ...index, ends: [10, 20, ...(index?.ends.slice(2) ?? [])] };
  await writeFile(join(logDir, BUILD, 'job-output.txt.index.json'), JSON.stringify(wrong));
  await expect(readBuildLog(logDir, BUILD, 0, 10)).rejects.toThrow();
  for (const malformed of [
    {},
    { ...wrong, ends: [10, 5, 7] },
    { ...wrong, ends: [10] },
    { ...wrong, block: 0 },
  ])
    expect(() => parseLogIndex(malformed)).toThrow('malformed');
});

test('other machines read it in parts, or whole and compressed', async () => {
  const log = logOf(BLOCK + 100);
  await write(log);
  await using server = await startLogServer({
    ...{ listenAddress: '127.0.0.1', port: 0, logDir, secret: undefined, host: 'ci1', log: SILENT },
  });
  const place = { address: server.address, secret: undefined };
  const signal = AbortSignal.timeout(60_000);
  expect(await fetchPackedLog(place, BUILD, signal)).toBeUndefined();
  await packLog(logDir, BUILD);
  const part = await fetchLog(place, BUILD, BLOCK - 5, 50, signal);
  expect(part).toMatchObject({ next: BLOCK + 45, complete: false });
  expect(part?.bytes.equals(log.subarray(BLOCK - 5, BLOCK + 45))).toBe(true);
  const whole = await fetchPackedLog(place, BUILD, signal);
  expect(gunzipSync(await buffer(whole ?? expect.unreachable())).equals(log)).toBe(true);
});

test('long logs are packed when their builds have ended, short ones and growing ones stay as they are', async () => {
  const [earlier, short, growing] = ['earlier', 'short', 'growing'].map(name => derivedUuid(name));
  await write(logOf(100_000), earlier);
  await write(logOf(1_000), short);
  await write(logOf(100_000), growing);
  await rm(completeMarkOf(logPathOf(logDir, growing ?? '')));
  await using keeper = startLogKeeper({
    ...{ logDir, bucket: undefined, log: SILENT, now: () => 0, onStored: () => expect.unreachable() },
  });
  await write(logOf(100_000));
  keeper.add(BUILD);
  expect(await keeper.drained(60_000)).toBe(0);
  const packed = async (build = '') => (await readdir(join(logDir, build))).includes('job-output.txt.gz');
  expect(await Promise.all([BUILD, earlier, short, growing].map(packed))).toEqual([true, true, false, false]);
});

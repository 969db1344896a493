/** The whole way of logs into a bucket and out of it, against any server that speaks S3: one run for each server. */
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { completeMarkOf, logPathOf } from '../../../src/executor/log-file.ts';
import { bucketLogs } from '../../../src/executor/log-store/bucket-logs.ts';
import { keepFile } from '../../../src/executor/log-store/keep-file.ts';
import { listOf } from '../../../src/executor/log-store/kept-files.ts';
import type { LogBucket } from '../../../src/executor/log-store/log-bucket.ts';
import { type LogKeeper, startLogKeeper } from '../../../src/executor/log-store/log-keeper.ts';
import { pruneBucket } from '../../../src/executor/log-store/prune-bucket.ts';
import { openS3Bucket } from '../../../src/executor/log-store/s3-bucket.ts';
import { derivedUuid } from '../../../src/lib/ids.ts';
import { Secret } from '../../../src/lib/secret.ts';
import type { LogStoreSettings } from '../../../src/settings/log-store-section.ts';
import { startFaultProxy } from '../../fake/fault-proxy.ts';
import { SILENT } from '../../fake/silent-log.ts';

/** A server with an empty bucket. `settings`: for clients that reach it at another port of this machine. */
export interface BucketServer extends AsyncDisposable {
  readonly port: number;
  settings(port?: number): LogStoreSettings;
}

const NOW = Date.UTC(2026, 10, 29, 12);
const DAY = 86_400_000;

export function describeBucket(name: string, start: () => Promise<BucketServer>): void {
  describe(`logs in ${name}`, () => {
    let server: BucketServer;
    let logDir: string;
    let builds = 0;

    beforeAll(async () => {
      server = await start();
    });
    afterAll(() => server[Symbol.asyncDispose]());
    beforeEach(async () => {
      logDir = await mkdtemp(join(tmpdir(), 'gatehouse-bucket-'));
    });
    afterEach(() => rm(logDir, { recursive: true }));

    /** A build that has ended, with a log and a file. */
    async function ended(log: Buffer, daysAgo = 0): Promise<string> {
      const build = derivedUuid(`${name} ${builds++}`);
      const path = logPathOf(logDir, build);
      await mkdir(join(dirname(path), 'files'), { recursive: true });
      await writeFile(path, log);
      const source = Readable.from([Buffer.from('report')]);
      const kept = await keepFile({ logDir, build, masks: [] }, source, 1_000);
      const files = [{ path: 'a.txt', ...(kept ?? expect.unreachable()), modified: 1 }];
      await writeFile(listOf(logDir, build), JSON.stringify({ files }));
      await writeFile(completeMarkOf(path), '');
      const at = new Date(NOW - daysAgo * DAY);
      await utimes(completeMarkOf(path), at, at);
      return build;
    }

    const keeping = (bucket: LogBucket, warn: (text: string) => void = () => {}): LogKeeper =>
      startLogKeeper({
        ...{ logDir, bucket, now: () => NOW, onStored: () => {}, backoff: () => 5 },
        log: { ...SILENT, warn: (_facts, text) => warn(text) },
      });

    const signal = () => AbortSignal.timeout(60_000);

    /** All of it, as a web gets it; undefined: there is none. */
    async function stored(build: string, bucket: LogBucket) {
      const logs = bucketLogs(bucket);
      const log = await logs.openLog(build, signal());
      const files = await logs.files(build, signal());
      if (log === undefined || files === undefined) return undefined;
      const [file] = files.files;
      const content = await logs.openFile(build, file?.sha256 ?? '', signal());
      return {
        log: gunzipSync(await buffer(log)),
        [file?.path ?? '']: String(gunzipSync(await buffer(content ?? expect.unreachable()))),
      };
    }

    test('logs and files go there when their builds have ended, and are read from there in parts', async () => {
      // Of several parts of an upload, and of many blocks: hexadecimal digits of noise do not shrink to nothing.
      const long = noise(7_000_000);
      const [first, second] = [await ended(long), await ended(Buffer.from('short\n'))];
      using bucket = openS3Bucket(server.settings(), { partBytes: 5_242_880 });
      await using keeper = keeping(bucket);
      expect(await keeper.drained(60_000)).toBe(0);
      expect((await readdir(logDir, { recursive: true })).filter(entry => entry.endsWith('.gz'))).toEqual([]);
      expect((await stored(second, bucket))?.log.toString()).toBe('short\n');
      const logs = bucketLogs(bucket);
      for (const offset of [0, 262_140, 5_000_000, 6_999_990]) {
        const part = await logs.readLog(first, offset, 262_144, signal());
        expect(part?.bytes.equals(long.subarray(offset, offset + 262_144))).toBe(true);
        expect(part?.complete).toBe(offset === 6_999_990);
      }
      const whole = await stored(first, bucket);
      expect(whole?.log.equals(long)).toBe(true);
      expect(whole?.['a.txt']).toBe('report');
      expect(await logs.readLog(derivedUuid('another'), 0, 10, signal())).toBeUndefined();
    });

    test('a log stays here until it is whole there, no matter which request is the last of a process', async () => {
      using bucket = openS3Bucket(server.settings());
      const build = await ended(Buffer.from('one\ntwo\n'));
      for (let fails = 1; fails <= 5; fails++) {
        let requests = 0;
        const stop = new AbortController();
        const failing: LogBucket = {
          ...bucket,
          async put(...request) {
            if (++requests === fails) {
              stop.abort();
              throw new Error('killed here');
            }
            if (stop.signal.aborted) throw new Error('killed before');
            await bucket.put(...request);
          },
        };
        const keeper = keeping(failing);
        await new Promise(resolve => stop.signal.addEventListener('abort', resolve, { once: true }));
        await keeper[Symbol.asyncDispose]();
        expect(await stored(build, bucket)).toBeUndefined();
        expect(await readdir(logDir)).toContain(build);
      }
      await using keeper = keeping(bucket);
      expect(await keeper.drained(60_000)).toBe(0);
      expect(await stored(build, bucket)).toEqual({ log: Buffer.from('one\ntwo\n'), 'a.txt': 'report' });
    });

    test('a bucket that refuses, hangs or is away is waited for, and says why', async () => {
      await using proxy = await startFaultProxy({ port: server.port });
      const settings = server.settings(proxy.port);
      const wrong = {
        accessKeyId: settings.credentials?.accessKeyId ?? '',
        secretAccessKey: new Secret('wrong'),
      };
      using refusing = openS3Bucket({ ...settings, credentials: wrong });
      const build = await ended(Buffer.from('kept\n'));
      const warning = Promise.withResolvers<string>();
      await using refused = keeping(refusing, warning.resolve);
      const text = await warning.promise;
      expect(text).toContain('logs of 1 builds wait for bucket ');
      expect(text).toContain('(403)');
      expect(text).not.toContain('wrong');
      expect(refused.waiting()).toMatchObject({ builds: 1, oldestMs: 0 });
      await refused[Symbol.asyncDispose]();

      using impatient = openS3Bucket(settings, { answerMs: 100 });
      using bucket = openS3Bucket(settings);
      for (const [kind, asked, reason] of [
        ['hang', impatient, 'no answer in time'],
        ['refuse', bucket, 'ECONNREFUSED'],
      ] as const) {
        proxy.set({ kind });
        const said = Promise.withResolvers<string>();
        await using keeper = keeping(asked, said.resolve);
        expect(await said.promise).toContain(reason);
        await vi.waitFor(() => expect(keeper.waiting().bytes).toBeGreaterThan(0));
        if (kind === 'hang') continue;
        proxy.set({ kind: 'pass' });
        expect(await keeper.drained(60_000)).toBe(0);
      }
      expect((await stored(build, bucket))?.log.toString()).toBe('kept\n');
      proxy.set({ kind: 'refuse' });
      await expect(bucketLogs(bucket).readLog(derivedUuid('other'), 0, 10, signal())).rejects.toThrow();
    });

    test('builds that ended longer ago than logs are kept go, also what was stored of them in part', async () => {
      using bucket = openS3Bucket(server.settings());
      const [old, young] = [await ended(Buffer.from('old\n'), 40), await ended(Buffer.from('young\n'), 5)];
      const part = derivedUuid(`${name} in part`);
      await bucket.put(`days/2026-10-19/${part}`, { kind: 'json', text: '{}' }, signal());
      await bucket.put(`builds/${part}/files.json`, { kind: 'json', text: '{}' }, signal());
      await using keeper = keeping(bucket);
      expect(await keeper.drained(60_000)).toBe(0);
      // Webs that have read something of the build before.
      const webs = [bucketLogs(bucket), bucketLogs(bucket), bucketLogs(bucket), bucketLogs(bucket)] as const;
      const [reader, downloader, lister, opener] = webs;
      const list = await reader.files(old, signal());
      for (const web of webs) expect((await web.readLog(old, 0, 10, signal()))?.complete).toBe(true);
      const stop = new AbortController();
      let pruned = 0;
      await pruneBucket(
        {
          ...{ bucket, keep: (30 * DAY) / 1000, now: () => NOW, onPruned: () => (pruned += 1) },
          log: { ...SILENT, info: () => stop.abort(), warn: (_facts, text) => expect.unreachable(text) },
        },
        stop.signal,
      );
      expect(pruned).toBe(2);
      expect(await stored(old, bucket)).toBeUndefined();
      expect(await reader.readLog(old, 0, 10, signal())).toBeUndefined();
      expect(await downloader.openLog(old, signal())).toBeUndefined();
      expect(await lister.files(old, signal())).toBeUndefined();
      const [file] = list?.files ?? expect.unreachable();
      expect(await opener.openFile(old, file?.sha256 ?? '', signal())).toBeUndefined();
      expect(webs.map(web => web.isKnown(old))).toEqual([false, false, false, false]);
      expect(await bucket.list(`builds/${old}/`, signal())).toEqual([]);
      expect(await bucket.list(`builds/${part}/`, signal())).toEqual([]);
      expect((await stored(young, bucket))?.log.toString()).toBe('young\n');
      expect(await bucket.folders('days/', signal())).toContain('2026-11-24');
      expect(await bucket.folders('days/', signal())).not.toContain('2026-10-20');
    });
  });
}

/** The same each time. */
function noise(bytes: number): Buffer {
  const made = Buffer.alloc(bytes);
  let state = 1;
  for (let at = 0; at < bytes; at++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    made[at] = at % 80 === 79 ? 10 : 33 + ((state >>> 16) % 94);
  }
  return made;
}

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { buildLogs } from '../../../../src/cmd/service/build-logs.ts';
import { startLogServer } from '../../../../src/executor/log-server.ts';
import type { BucketLogs } from '../../../../src/executor/log-store/bucket-logs.ts';
import { parseNanoseconds } from '../../../../src/lib/clock.ts';
import type { Log } from '../../../../src/lib/log.ts';
import { Secret } from '../../../../src/lib/secret.ts';
import type { RegisteredComponent } from '../../../../src/store/component-view.ts';
import { refusalForLostLogs } from '../../../../src/web/lost-logs.ts';

const BUILD = 'ab'.repeat(16);
const secret = new Secret('shared');
let directory: string;
let warnings: string[];
const log: Log = {
  debug: () => {},
  info: () => {},
  warn: (_facts, text) => void warnings.push(text),
  error: () => {},
  child: () => log,
};

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-logs-'));
  warnings = [];
});
afterEach(() => rm(directory, { recursive: true }));

async function writeLog(logDir: string, text: string) {
  await mkdir(path.join(logDir, BUILD), { recursive: true });
  await writeFile(path.join(logDir, BUILD, 'job-output.txt'), text);
}

function executor(id: string, host: string, address: string | null): RegisteredComponent {
  const rest = {
    pid: 1,
    version: '1',
    state: 'running',
    startedAt: parseNanoseconds('1'),
    labels: [],
  } as const;
  return { id, kind: 'executor', host, address, ...rest };
}

const at = (name: string) => path.join(directory, name);
const serve = (name: string) =>
  startLogServer({ listenAddress: '127.0.0.1', port: 0, logDir: at(name), secret, host: '127.0.0.1', log });

function read(
  components: readonly RegisteredComponent[],
  worker: string | null = 'ci2',
  bucket?: BucketLogs,
) {
  const settings = { logDir: at('web'), logToken: secret };
  const deps = { settings, components: () => components, bucket, log };
  return buildLogs(deps).readLog({ build: BUILD, worker, offset: 2, limit: 3 });
}

test('a log of this machine is read from its directory', async () => {
  await writeLog(at('web'), 'local log');
  expect((await read([]))?.bytes.toString()).toBe('cal');
});

test('a log of another machine is read from the executors there', async () => {
  await writeLog(at('second'), 'remote log');
  await using first = await serve('first');
  await using second = await serve('second');
  const part = await read([
    executor('executor-0', 'ci1', 'http://127.0.0.1:1'),
    executor('executor-1', 'ci2', first.address),
    executor('executor-2', 'ci2', second.address),
  ]);
  expect(part?.bytes.toString()).toBe('mot');
  expect(warnings).toEqual([]);
});

test('an unreachable executor is skipped and logged', async () => {
  await writeLog(at('second'), 'remote log');
  await using second = await serve('second');
  const part = await read([
    executor('executor-1', 'ci2', 'http://127.0.0.1:1'),
    executor('executor-2', 'ci2', second.address),
    executor('executor-3', 'ci2', null),
  ]);
  expect(part?.bytes.toString()).toBe('mot');
  expect(warnings).toEqual(['cannot read a log from an executor']);
});

test('a log that no executor has is absent', async () => {
  await using only = await serve('first');
  expect(await read([executor('executor-1', 'ci2', only.address)], null)).toBeUndefined();
});

describe('a bucket', () => {
  const part = { bytes: Buffer.from('stored'), next: 6, complete: true };
  const bucketOf = (readLog: BucketLogs['readLog'], isKnown = false): BucketLogs => ({
    ...{ isKnown: () => isKnown, readLog },
    openLog: () => expect.unreachable(),
    openFile: () => expect.unreachable(),
    files: () => expect.unreachable(),
  });

  test('is asked for what is neither here nor at an executor', async () => {
    await using only = await serve('second');
    const executors = [executor('executor-2', 'ci2', only.address)];
    const stored = bucketOf(async () => part);
    expect((await read(executors, 'ci2', stored))?.bytes.toString()).toBe('stored');
    await writeLog(at('second'), 'remote log');
    expect((await read(executors, 'ci2', stored))?.bytes.toString()).toBe('mot');
  });

  test('is asked first for what it is known to have', async () => {
    const away = [executor('executor-1', 'ci2', 'http://127.0.0.1:1')];
    expect(
      await read(
        away,
        'ci2',
        bucketOf(async () => part, true),
      ),
    ).toBe(part);
    expect(warnings).toEqual([]);
  });

  test('that does not answer is no reason to say that there is no log', async () => {
    const failing = bucketOf(async () => Promise.reject(new Error('no answer in time')));
    const failure = await read([], 'ci2', failing).catch((error: unknown) => error);
    expect(refusalForLostLogs(failure)).toMatchObject({ status: 503, place: 'log store' });
    expect(refusalForLostLogs(new Error('another'))).toBeUndefined();
  });
});

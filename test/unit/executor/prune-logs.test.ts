import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { completeMarkOf, logPathOf } from '../../../src/executor/log-file.ts';
import { pruneLogs } from '../../../src/executor/prune-logs.ts';
import { derivedUuid } from '../../../src/lib/ids.ts';
import { SILENT } from '../../fake/silent-log.ts';

const NOW = Date.UTC(2026, 10, 22);
const DAY = 86_400;
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-logs-'));
});
afterEach(() => rm(directory, { recursive: true }));

test('logs of builds that ended longer ago are removed; younger ones, running ones and foreign files stay', async () => {
  await written('old', { days: 31, complete: true });
  await written('young', { days: 29, complete: true });
  await written('running', { days: 33, complete: false });
  await written('abandoned', { days: 39, complete: false });
  await mkdir(path.join(directory, 'not-a-build'));

  expect(await pruned(30)).toBe(2);
  const left = [derivedUuid('young'), derivedUuid('running'), 'not-a-build'];
  expect((await readdir(directory)).sort()).toEqual(left.sort());
});

test('without an age nothing is removed', async () => {
  await written('old', { days: 3000, complete: true });
  const running = pruneLogs(
    { ...deps(), keep: undefined, onPruned: () => expect.unreachable() },
    AbortSignal.timeout(60_000),
  );
  await running;
  expect(await readdir(directory)).toHaveLength(1);
});

function deps() {
  return { logDir: directory, now: () => NOW, log: SILENT };
}

/** One pass; returns how many logs it removed. */
async function pruned(days: number): Promise<number> {
  const stop = new AbortController();
  let count = 0;
  const reported = Promise.withResolvers<void>();
  const log = { ...SILENT, info: () => reported.resolve() };
  const running = pruneLogs(
    { ...deps(), log, keep: days * DAY, onPruned: logs => (count += logs) },
    stop.signal,
  );
  await reported.promise;
  stop.abort();
  await running;
  return count;
}

async function written(name: string, { days, complete }: { days: number; complete: boolean }): Promise<void> {
  const file = logPathOf(directory, derivedUuid(name));
  const at = new Date(NOW - days * DAY * 1000);
  await mkdir(path.dirname(file), { recursive: true });
  for (const each of complete ? [file, completeMarkOf(file)] : [file]) {
    await writeFile(each, 'text');
    await utimes(each, at, at);
  }
}

/** What a thread that reads the history does when a query takes too long: it ends, query and all. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openHistory } from '../../../src/history/history.ts';
import { makeInterruptible } from '../../../src/history/interruptible.ts';
import type { ReadingTable } from '../../../src/history/reading-dialect.ts';
import { type CallLost, callsToWorker } from '../../../src/lib/worker-calls.ts';
import { processorTime } from '../../fake/processor-time.ts';
import { fillHistory } from './long-history.ts';

let directory: string;
let file: string;

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-history-'));
  file = path.join(directory, 'history.sqlite');
  await (await openHistory({ kind: 'sqlite', path: file })).close();
});
afterEach(() => rm(directory, { recursive: true }));

test('a query that takes too long does not go on in its thread, and the next one has another', async () => {
  fillHistory(file, 2_000);
  const calls = callsToWorker<ReadingTable>({
    entry: new URL('../../../src/history/reading-thread.ts', import.meta.url),
    data: { path: file },
    limits: { ms: 300, of: 'processor', heapMb: 64, waiting: 10 },
  });
  // Minutes of a processor.
  const endless = { sql: 'select count(*) as n from build a, build b, build c', parameters: [] };
  const lost = calls.call('query', endless).catch((error: CallLost) => error.because);
  const next = calls.call('query', { sql: 'select count(*) as n from build', parameters: [] });
  expect(await lost).toBe('time');
  expect(await next).toEqual([{ n: 2_000 }]);

  // Closing waits for the thread that is at work.
  const another = calls.call('query', endless).catch((error: CallLost) => error.because);
  const before = process.cpuUsage();
  await calls[Symbol.asyncDispose]();
  expect(await another).toBe('closed');
  expect(process.cpuUsage(before).user).toBeLessThan(5_000_000);
});

test('rows are reached by the same indexes as in the tables themselves, and the newest builds are found as quickly', () => {
  fillHistory(file, 20_000);
  const questions = [
    `select build.* from build where build.tenant = 'big' order by build.id desc limit 50`,
    `select build.* from build where build.tenant = 'big' and exists (select 1 from buildset
       where buildset.id = build.buildset_id and buildset.pipeline = 'gate') order by build.id desc limit 50`,
    'select coalesce(max(id), 0) as newest from build',
    `select * from build where uuid = 'build-7'`,
  ];
  const plain = new DatabaseSync(file, { readOnly: true });
  const hidden = new DatabaseSync(file, { readOnly: true });
  makeInterruptible(hidden);
  for (const sql of questions) {
    const planOf = (database: DatabaseSync) =>
      database
        .prepare(`explain query plan ${sql}`)
        .all()
        .flatMap(
          ({ detail }) => /^(SEARCH|SCAN) .*/.exec(String(detail))?.[0].replace(/main\.| EXISTS/g, '') ?? [],
        );
    expect(planOf(hidden)).toEqual(planOf(plain));
    expect(hidden.prepare(sql).all()).toEqual(plain.prepare(sql).all());
    expect(processorTime(() => hidden.prepare(sql).all())).toBeLessThan(20);
  }
  plain.close();
  hidden.close();
});

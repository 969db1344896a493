import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findItemsOfChange } from '../../../src/history/find-items-of-change.ts';
import { openHistory } from '../../../src/history/history.ts';
import type { HistoryTables } from '../../../src/history/schema.ts';
import { nodeSqliteDialect } from '../../../src/history/sqlite-dialect.ts';
import { openThreadedHistory } from '../../../src/history/threaded-history.ts';
import { parseNanoseconds } from '../../../src/lib/clock.ts';
import { finishedItems, sampleDecisions } from '../web/sample-gate.ts';
import { at } from '../web/sample-item.ts';
import { fillHistory } from './long-history.ts';

let directory: string;
let file: string;

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-history-'));
  file = path.join(directory, 'history.sqlite');
});
afterEach(() => rm(directory, { recursive: true }));

test('a history of this version is opened while it is being written, without waiting for that to end', async () => {
  await (await openHistory({ kind: 'sqlite', path: file })).close();
  using writer = new DatabaseSync(file);
  writer.exec('begin immediate');
  const opened = await openHistory({ kind: 'sqlite', path: file });
  expect(await opened.recentDurations()).toEqual([]);
  await opened.close();
});

describe('a history in threads', () => {
  test('shows what was written to it, and is whole when opened again', async () => {
    const history = await openThreadedHistory({ kind: 'sqlite', path: file });
    await history.record(finishedItems().map(item => ({ kind: 'item', item })));
    const builds = await history.builds({ tenant: 'main' });
    const { id } = history;
    await history.close();

    const plain = await openHistory({ kind: 'sqlite', path: file });
    expect(plain.id).toBe(id);
    expect(builds.length).toBeGreaterThan(0);
    expect(await plain.builds({ tenant: 'main' })).toEqual(builds);
    await plain.close();
  });

  test('refuses a file that is no database with the same words', async () => {
    await writeFile(file, 'no database at all, and long enough to be looked at as one'.repeat(100));
    const plainly = await openHistory({ kind: 'sqlite', path: file }).catch((error: Error) => error.message);
    const threaded = await openThreadedHistory({ kind: 'sqlite', path: file }).catch(
      (error: Error) => error.message,
    );
    expect(threaded).toBe(plainly);
    expect(threaded).toContain(file);
  });

  test('does not hold the event loop while it looks through all builds', async () => {
    await (await openHistory({ kind: 'sqlite', path: file })).close();
    fillHistory(file, 50_000);
    const history = await openThreadedHistory({ kind: 'sqlite', path: file });
    await history.builds({ tenant: 'big' });
    // Processor time, not turns of the loop: on a busy machine a quick query may leave room for few turns.
    const [thisThread, process_] = [process.threadCpuUsage(), process.cpuUsage()];
    expect(await history.builds({ tenant: 'big', branch: ['*nowhere*'], ref: ['*nowhere*'] })).toEqual([]);
    const here = total(process.threadCpuUsage(thisThread));
    const everywhere = total(process.cpuUsage(process_));
    expect(here).toBeLessThan(everywhere / 4);
    await history.close();
  });
});

describe('the newest builds of a tenant', () => {
  test.each([
    ['without a filter', ''],
    ['with a result', "and result = 'SUCCESS'"],
    ['of a job', "and job_name = 'job-1'"],
  ])('are found in an index and not sorted, %s', async (_name, and) => {
    await (await openHistory({ kind: 'sqlite', path: file })).close();
    const database = new DatabaseSync(file);
    const plan = database
      .prepare(`explain query plan select * from build where tenant = 'a' ${and} order by id desc limit 50`)
      .all()
      .map(({ detail }) => String(detail));
    database.close();
    expect(plan).toEqual([expect.stringMatching(/^SEARCH build USING INDEX build_by_tenant/)]);
  });
});

test('the items of a change are found without reading those of others', async () => {
  await (await openHistory({ kind: 'sqlite', path: file })).close();
  fillHistory(file, 1000);
  const asked: string[] = [];
  const database = new DatabaseSync(file);
  const reading = new Kysely<HistoryTables>({
    dialect: nodeSqliteDialect(file),
    log: event => void asked.push(event.query.sql),
  });
  await findItemsOfChange(reading, { tenant: 'big', project: 'acme/p1', change: 'master/c1', limit: 20 });
  await reading.destroy();
  const [list = ''] = asked;
  const plan = database
    .prepare(`explain query plan ${list}`)
    .all('acme/p1', 'master/c1', 'big', 20)
    .map(({ detail }) => String(detail));
  database.close();
  expect(plan[0]).toMatch(
    /^SEARCH buildset_ref USING INDEX buildset_ref_by_project \(project=\? AND change=\?\)/,
  );
  expect(plan.filter(step => step.startsWith('SCAN'))).toEqual([]);
});

describe('a database of 0.3', () => {
  test('is brought to this version with the tenant of every build', async () => {
    await (await openHistory({ kind: 'sqlite', path: file })).close();
    fillHistory(file, 25_000);
    backTo03(file);

    const history = await openThreadedHistory({ kind: 'sqlite', path: file });
    expect(await history.builds({ tenant: 'small', limit: 1000, idxMax: 15_000 })).toHaveLength(1000);
    expect(await history.builds({ tenant: '' })).toEqual([]);
    expect(await history.builds({ tenant: 'big', uuid: ['build-24989'] })).toHaveLength(1);
    await history.close();
  });
});

describe('pruning', () => {
  test('forgets the oldest items with all that hangs below them, step by step, and nothing younger', async () => {
    await (await openHistory({ kind: 'sqlite', path: file })).close();
    fillHistory(file, 1000);
    const history = await openThreadedHistory({ kind: 'sqlite', path: file });
    const before = parseNanoseconds('1790000000000000071');
    expect(await history.prune({ before, most: 50 })).toEqual({ items: 50, decisions: 0, traces: 0 });
    expect(await history.prune({ before, most: 50 })).toEqual({ items: 20, decisions: 0, traces: 0 });
    expect(await history.prune({ before, most: 50 })).toEqual({ items: 0, decisions: 0, traces: 0 });
    const left = [
      ...(await history.builds({ tenant: 'big', limit: 1000 })),
      ...(await history.builds({ tenant: 'small', limit: 1000 })),
    ];
    expect(left).toHaveLength(300);
    expect(left.every(({ buildset }) => Number(buildset.item.slice(5)) > 70)).toBe(true);
    await history.close();
    const database = new DatabaseSync(file);
    expect(database.prepare('select count(*) as refs from buildset_ref').get()).toEqual({ refs: 30 });
    database.close();
  });

  test('forgets decisions of the same age', async () => {
    const history = await openThreadedHistory({ kind: 'sqlite', path: file });
    await history.record([{ kind: 'decisions', decisions: sampleDecisions() }]);
    const pruned = await history.prune({ before: at(100_000), most: 100 });
    expect(pruned.decisions).toBe(sampleDecisions().length);
    await history.close();
  });
});

/** As 0.3 left the tables. */
function backTo03(path: string): void {
  const database = new DatabaseSync(path);
  database.exec(`drop index build_by_tenant; drop index build_by_tenant_result; drop index build_by_tenant_job; drop index build_by_tenant_worker;
    drop index buildset_by_tenant_result; drop index decision_by_key; drop table trace; drop table failed_test; drop table passed_test;
    alter table build drop column tenant; alter table build drop column log_url; alter table build drop column artifacts;
    alter table build drop column provides; alter table build drop column warnings; alter table build drop column file_comments; delete from kysely_migration where name >= '0004'`);
  database.close();
}

function total({ user, system }: NodeJS.CpuUsage): number {
  return user + system;
}

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { sqliteHistory } from '../../../src/history/history.ts';
import type { HistoryTables } from '../../../src/history/schema.ts';
import { openThreadedHistory } from '../../../src/history/threaded-history.ts';
import { writingDialect } from '../../../src/history/writing-dialect.ts';
import { type WritingTable, writingTable } from '../../../src/history/writing-table.ts';
import type { Calls } from '../../../src/lib/calls.ts';
import type { HistoryRow } from '../../../src/model/history.ts';
import { finishedItems, gateItems, sampleDecisions } from '../web/sample-gate.ts';

let directory: string;
let file: string;

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-history-'));
  file = path.join(directory, 'history.sqlite');
});
afterEach(() => rm(directory, { recursive: true }));

const items = (): readonly HistoryRow[] => finishedItems().map(item => ({ kind: 'item', item }));
const decisions = (): readonly HistoryRow[] => [{ kind: 'decisions', decisions: sampleDecisions() }];

function rowsIn(table: string): unknown {
  const database = new DatabaseSync(file);
  const found = database.prepare(`select count(*) as rows from ${table}`).get()?.rows;
  database.close();
  return found;
}

describe('a history that another thread writes', () => {
  test('writes nothing of a call that fails in the middle, and all of the next one', async () => {
    const history = await openThreadedHistory({ kind: 'sqlite', path: file });
    const running = gateItems().find(item => item.phase.phase !== 'left')!;
    await expect(history.record([...items(), { kind: 'item', item: running }])).rejects.toThrow(
      'it is no history yet',
    );
    expect(rowsIn('item')).toBe(0);
    await history.record(items());
    expect(rowsIn('item')).toBe(finishedItems().length);
    await history.close();
  });

  test('has written what was asked for before it was closed', async () => {
    const history = await openThreadedHistory({ kind: 'sqlite', path: file });
    const recorded = Promise.all([history.record(items()), history.record(decisions())]);
    await history.close();
    await recorded;
    expect([rowsIn('item'), rowsIn('decision')]).toEqual([finishedItems().length, sampleDecisions().length]);
  });

  test('loses a transaction whole when its thread is lost, and goes on in the next thread', async () => {
    const threads = lostAtWill(file);
    const database = new Kysely<HistoryTables>({ dialect: writingDialect(threads.calls) });
    const history = await sqliteHistory(database, { kind: 'sqlite', path: file });
    const before = threads.statements();
    threads.loseAfter(3);
    await expect(history.record(items())).rejects.toThrow('the transaction was lost');
    // The transaction had begun, and had written.
    expect(threads.statements() - before).toBe(3);
    expect([rowsIn('item'), rowsIn('buildset'), rowsIn('build')]).toEqual([0, 0, 0]);
    await history.record(items());
    expect(rowsIn('item')).toBe(finishedItems().length);
    await history.close();
  });
});

test('rows of a call are written by one statement for each table, however many they are', async () => {
  const threads = lostAtWill(file);
  const database = new Kysely<HistoryTables>({ dialect: writingDialect(threads.calls) });
  const history = await sqliteHistory(database, { kind: 'sqlite', path: file });
  const before = threads.statements();
  await history.record(decisions());
  // All of them with the beginning of the transaction, and its end.
  expect(threads.statements() - before).toBe(2);
  expect(sampleDecisions().length).toBeGreaterThan(1);
  const beforeItems = threads.statements();
  await history.record([...items(), ...decisions(), ...items()]);
  // Items, their buildsets, refs and builds, and the decisions.
  expect(threads.statements() - beforeItems).toBe(6);
  expect(finishedItems().length).toBeGreaterThan(1);
  expect(rowsIn('item')).toBe(finishedItems().length);
  // Again: each is written once.
  await history.record([...decisions(), ...decisions()]);
  expect(rowsIn('decision')).toBe(sampleDecisions().length);
  await history.close();
});

/** A thread's calls, made here; after some statements another thread takes its place. */
function lostAtWill(path: string) {
  let thread = writingTable(path);
  let statements = 0;
  let left = Number.POSITIVE_INFINITY;
  const calls: Calls<WritingTable> = {
    async call(name, argument) {
      if (name === 'execute') {
        if (left === 0) {
          // What ends a thread closes its files.
          thread.close(null);
          thread = writingTable(path);
        } else statements += 1;
        left -= 1;
      }
      return Reflect.apply(thread[name], undefined, [argument]);
    },
    [Symbol.asyncDispose]: async () => {},
  };
  return {
    calls,
    statements: () => statements,
    loseAfter(count: number) {
      left = count;
    },
  };
}

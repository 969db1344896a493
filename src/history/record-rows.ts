/**
 * Writes rows: one transaction for all rows of a call, each row at most once. Rows of one table go in one statement: each statement is a
 * message to the thread that has the file open, or a round trip to the server.
 */
import type { Transaction } from 'kysely';
import { laterOf } from '../lib/clock.ts';
import { sha256 } from '../lib/ids.ts';
import type { Decision } from '../model/decision.ts';
import type { HistoryRow } from '../model/history.ts';
import { endOfItem, type QueueItem } from '../model/queue-item.ts';
import type { SpanRecord } from '../model/span.ts';
import { runTestsOf } from './failed-tests.ts';
import { type BuildsetRows, rowsOfItem } from './item-rows.ts';
import type { Database, HistoryTables } from './schema.ts';

/** @throws Error for an item that has not left its queue: nothing of the call is written. */
export async function recordRows(database: Database, rows: readonly HistoryRow[]): Promise<void> {
  if (rows.length === 0) return;
  const { item: items = [], decisions = [], trace: traces = [] } = byKind(rows);
  await database.transaction().execute(async transaction => {
    await recordItems(
      transaction,
      items.map(({ item }) => item),
    );
    await recordDecisions(
      transaction,
      decisions.flatMap(row => row.decisions),
    );
    await recordTraces(
      transaction,
      traces.map(({ spans }) => spans),
    );
  });
}

type RowsByKind = { readonly [Kind in HistoryRow['kind']]?: readonly Extract<HistoryRow, { kind: Kind }>[] };

function byKind(rows: readonly HistoryRow[]): RowsByKind {
  // TypeScript does not know that rows of one kind are alike.
  return Object.groupBy(rows, ({ kind }) => kind) as RowsByKind;
}

async function recordTraces(
  transaction: Transaction<HistoryTables>,
  traces: readonly (readonly SpanRecord[])[],
): Promise<void> {
  for (const some of chunks(traces.flatMap(traceRow)))
    await transaction
      .insertInto('trace')
      .values([...some])
      .onConflict(conflict => conflict.column('digest').doNothing())
      .execute();
}

function traceRow(spans: readonly SpanRecord[]) {
  const [first] = spans;
  if (first === undefined) return [];
  const document = JSON.stringify(spans);
  const end = spans.reduce((latest, span) => laterOf(latest, span.end ?? span.start), first.start);
  return [{ digest: sha256(document), trace_id: first.traceId, ended_at: end, document }];
}

async function recordItems(
  transaction: Transaction<HistoryTables>,
  items: readonly QueueItem[],
): Promise<void> {
  for (const some of chunks(items)) {
    const inserted = await transaction
      .insertInto('item')
      .values(some.map(itemRow))
      .onConflict(conflict => conflict.column('uuid').doNothing())
      .returning('uuid')
      .execute();
    // One that is not among them was known already, and so is everything below it, since it was written in one transaction.
    const byUuid = new Map(some.map(item => [item.uuid as string, item]));
    await recordBuildsets(
      transaction,
      inserted.flatMap(({ uuid }) => byUuid.get(uuid) ?? []),
    );
  }
}

function itemRow(item: QueueItem) {
  const { phase } = item;
  if (phase.phase !== 'left')
    throw new Error(`item ${item.uuid} has not left its queue: it is no history yet`);
  return {
    uuid: item.uuid,
    tenant: item.tenant,
    pipeline: item.pipeline,
    result: phase.result,
    reason: phase.reason,
    resets: item.earlier.length,
    enqueued_at: item.enqueuedAt,
    left_at: endOfItem(item) ?? item.enqueuedAt,
    document: JSON.stringify(item),
  };
}

/** Numbers are given in the order of the rows. */
async function recordBuildsets(
  transaction: Transaction<HistoryTables>,
  items: readonly QueueItem[],
): Promise<void> {
  const all = items.flatMap(rowsOfItem);
  const ids = new Map<string, number>();
  for (const some of chunks(all)) {
    const numbered = await transaction
      .insertInto('buildset')
      .values(some.map(({ buildset }) => buildset))
      .returning(['id', 'uuid'])
      .execute();
    for (const { id, uuid } of numbered) ids.set(uuid, id);
  }
  const below = <T>(rowsOf: (each: BuildsetRows) => readonly T[]) =>
    chunks(
      all.flatMap(each => {
        const id = ids.get(each.buildset.uuid);
        if (id === undefined) throw new Error(`the database did not number buildset ${each.buildset.uuid}`);
        return rowsOf(each).map(row => ({ ...row, buildset_id: id }));
      }),
    );
  for (const refs of below(each => each.refs))
    await transaction
      .insertInto('buildset_ref')
      .values([...refs])
      .execute();
  const builds = below(({ buildset: { tenant }, builds }) => builds.map(build => ({ ...build, tenant })));
  const numbers = new Map<string, number>();
  for (const some of builds) {
    const numbered = await transaction
      .insertInto('build')
      .values([...some])
      .returning(['id', 'uuid'])
      .execute();
    for (const { id, uuid } of numbered) numbers.set(uuid, id);
  }
  await recordTests(transaction, items, numbers);
}

/** @param numbers of builds, by uuid. */
async function recordTests(
  transaction: Transaction<HistoryTables>,
  items: readonly QueueItem[],
  numbers: ReadonlyMap<string, number>,
): Promise<void> {
  const rows = items.flatMap(item =>
    runTestsOf(item).flatMap(({ build, table, ...row }) => {
      const id = numbers.get(build);
      return id === undefined ? [] : [{ table, row: { ...row, build_id: id, tenant: item.tenant } }];
    }),
  );
  for (const table of ['failed_test', 'passed_test'] as const)
    for (const some of chunks(rows.filter(each => each.table === table)))
      await transaction
        .insertInto(table)
        .values(some.map(({ row }) => row))
        .execute();
}

async function recordDecisions(
  transaction: Transaction<HistoryTables>,
  decisions: readonly Decision[],
): Promise<void> {
  for (const some of chunks(decisions))
    await transaction
      .insertInto('decision')
      .values(some.map(decisionRow))
      .onConflict(conflict => conflict.column('digest').doNothing())
      .execute();
}

function decisionRow(decision: Decision) {
  const document = JSON.stringify(decision);
  return {
    digest: sha256(document),
    tenant: decision.tenant,
    project_key: decision.project,
    project: decision.project.slice(decision.project.indexOf('/') + 1),
    change_key: decision.change,
    change_id: decision.change.startsWith(decision.project)
      ? decision.change.slice(decision.project.length + 1)
      : decision.change,
    at: decision.at,
    document,
  };
}

/** Rows of one statement: with twenty columns each, far below the placeholders that SQLite and PostgreSQL allow. */
const MOST_ROWS = 100;

function* chunks<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < rows.length; at += MOST_ROWS) yield rows.slice(at, at + MOST_ROWS);
}

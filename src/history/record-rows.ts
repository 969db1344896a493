/**
 * Writes rows: one transaction for all rows of a call, each row at most once. Rows of one table go in one statement: each statement is a
 * message to the thread that has the file open, or a round trip to the server.
 */
import type { Transaction } from 'kysely';
import { assertNever } from '../lib/assert-never.ts';
import { laterOf } from '../lib/clock.ts';
import { sha256 } from '../lib/ids.ts';
import type { Decision } from '../model/decision.ts';
import type { HistoryRow } from '../model/history.ts';
import { endOfItem, type QueueItem } from '../model/queue-item.ts';
import type { SpanRecord } from '../model/span.ts';
import { rowsOfItem } from './item-rows.ts';
import type { Database, HistoryTables } from './schema.ts';

/** @throws Error for an item that has not left its queue: nothing of the call is written. */
export async function recordRows(database: Database, rows: readonly HistoryRow[]): Promise<void> {
  if (rows.length === 0) return;
  await database.transaction().execute(async transaction => {
    for (const row of rows) {
      switch (row.kind) {
        case 'item':
          await recordItem(transaction, row.item);
          break;
        case 'decisions':
          await recordDecisions(transaction, row.decisions);
          break;
        case 'trace':
          await recordTrace(transaction, row.spans);
          break;
        default:
          assertNever(row);
      }
    }
  });
}

async function recordTrace(
  transaction: Transaction<HistoryTables>,
  spans: readonly SpanRecord[],
): Promise<void> {
  const [first] = spans;
  if (first === undefined) return;
  const document = JSON.stringify(spans);
  const end = spans.reduce((latest, span) => laterOf(latest, span.end ?? span.start), first.start);
  await transaction
    .insertInto('trace')
    .values({ digest: sha256(document), trace_id: first.traceId, ended_at: end, document })
    .onConflict(conflict => conflict.column('digest').doNothing())
    .execute();
}

async function recordItem(transaction: Transaction<HistoryTables>, item: QueueItem): Promise<void> {
  const { phase } = item;
  if (phase.phase !== 'left')
    throw new Error(`item ${item.uuid} has not left its queue: it is no history yet`);
  const inserted = await transaction
    .insertInto('item')
    .values({
      uuid: item.uuid,
      tenant: item.tenant,
      pipeline: item.pipeline,
      result: phase.result,
      reason: phase.reason,
      resets: item.earlier.length,
      enqueued_at: item.enqueuedAt,
      left_at: endOfItem(item) ?? item.enqueuedAt,
      document: JSON.stringify(item),
    })
    .onConflict(conflict => conflict.column('uuid').doNothing())
    .executeTakeFirst();
  // Known already, and so is everything below it, since it was written in one transaction.
  if (inserted.numInsertedOrUpdatedRows === 0n) return;
  await recordBuildsets(transaction, item);
}

async function recordBuildsets(transaction: Transaction<HistoryTables>, item: QueueItem): Promise<void> {
  for (const { buildset, refs, builds } of rowsOfItem(item)) {
    const { id } = await transaction
      .insertInto('buildset')
      .values(buildset)
      .returning('id')
      .executeTakeFirstOrThrow();
    await transaction
      .insertInto('buildset_ref')
      .values(refs.map(ref => ({ ...ref, buildset_id: id })))
      .execute();
    for (const some of chunks(builds))
      await transaction
        .insertInto('build')
        .values(some.map(build => ({ ...build, buildset_id: id, tenant: item.tenant })))
        .execute();
  }
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

import { Kysely } from 'kysely';
import { expect, test } from 'vitest';
import { migrate } from '../../../src/history/migrations.ts';
import { prune } from '../../../src/history/prune.ts';
import { recordRows } from '../../../src/history/record-rows.ts';
import type { HistoryTables } from '../../../src/history/schema.ts';
import { nodeSqliteDialect } from '../../../src/history/sqlite-dialect.ts';
import { addMilliseconds } from '../../../src/lib/clock.ts';
import { itemSpans } from '../../../src/tracing/spans/item-spans.ts';
import { resetAndMergedStory } from '../../fake/item-stories.ts';

test('traces of events are forgotten for their age, and the oldest of more than there may be', async () => {
  const database = new Kysely<HistoryTables>({ dialect: nodeSqliteDialect(':memory:') });
  await migrate(database, 'sqlite', ':memory:');
  const [root] = itemSpans(resetAndMergedStory().item);
  const end = root!.end!;
  const spans = Array.from({ length: 10 }, (_, age) => ({ ...root!, end: addMilliseconds(end, age) }));
  for (const span of spans) await recordRows(database, [{ kind: 'trace', spans: [span] }]);
  const left = async () =>
    (await database.selectFrom('trace').select('ended_at').orderBy('id').execute()).map(row => row.ended_at);
  const ends = spans.map(span => span.end);

  const step = { before: addMilliseconds(end, 2), most: 100 };
  expect(await prune(database, step)).toEqual({ items: 0, decisions: 0, traces: 2 });
  expect(await left()).toEqual(ends.slice(2));
  expect(await prune(database, { before: undefined, most: 2 }, 5)).toEqual({
    items: 0,
    decisions: 0,
    traces: 2,
  });
  expect(await prune(database, { before: undefined, most: 2 }, 5)).toMatchObject({ traces: 1 });
  expect(await prune(database, { before: undefined, most: 2 }, 5)).toMatchObject({ traces: 0 });
  expect(await left()).toEqual(ends.slice(5));
  await database.destroy();
});

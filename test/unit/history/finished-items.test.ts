import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kysely, sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type FinishedItems, openFinishedItems } from '../../../src/history/finished-items.ts';
import { type History, type HistoryPlace, openHistory } from '../../../src/history/history.ts';
import { postgresDialect } from '../../../src/history/postgres-dialect.ts';
import { nodeSqliteDialect } from '../../../src/history/sqlite-dialect.ts';
import { laterOf } from '../../../src/lib/clock.ts';
import { derivedUuid, traceIdOf } from '../../../src/lib/ids.ts';
import { Secret } from '../../../src/lib/secret.ts';
import { endOfItem, type QueueItem } from '../../../src/model/queue-item.ts';
import { itemSpans } from '../../../src/tracing/spans/item-spans.ts';
import { failedStory, resetAndMergedStory } from '../../fake/item-stories.ts';
import { type PostgresServer, startPostgres } from '../../fake/postgres-server.ts';

const ITEMS: readonly QueueItem[] = [
  resetAndMergedStory({ seed: 'merged' }).item,
  ...Array.from({ length: 60 }, (_, index) => failedStory({ seed: `failed ${index}` }).item),
];

describe.each(['sqlite', 'postgresql'] as const)('finished items in %s', kind => {
  let directory: string;
  let server: PostgresServer | undefined;
  let place: HistoryPlace;
  let history: History;

  beforeAll(async () => {
    if (kind === 'postgresql') server = await startPostgres();
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
  });

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-finished-'));
    await server?.clear();
    place =
      server === undefined
        ? { kind: 'sqlite', path: join(directory, 'history.sqlite') }
        : { kind: 'postgresql', uri: new Secret(server.uri) };
    history = await openHistory(place);
  });
  afterEach(async () => {
    await history.close();
    await rm(directory, { recursive: true });
  });

  test('come page by page, oldest first, while the service goes on writing', async () => {
    await history.record(ITEMS.slice(0, 40).map(item => ({ kind: 'item', item })));
    await using items = await opened();
    const first = await items.page({ after: 0 });
    await history.record(ITEMS.slice(40).map(item => ({ kind: 'item', item })));
    const rest = await allPages(items, first.next);
    expect(first.items.length).toBeLessThan(30);
    expect([...first.items, ...rest]).toEqual(ITEMS);
  });

  test('come with the traces of events, each part once, by page, by time and by id', async () => {
    const spans = itemSpans(ITEMS[0]!).map(span => ({ ...span, traceId: traceIdOf(derivedUuid('event')) }));
    const [first, second, third] = [spans.slice(0, 3), spans.slice(3, 5), [itemSpans(ITEMS[1]!)[0]!]];
    for (const part of [first, second, third, first]) await history.record([{ kind: 'trace', spans: part }]);
    await using items = await opened();
    const all = [...first, ...second, ...third];
    expect(await items.traces({ after: 0 })).toEqual({ spans: all, next: null });
    expect(await items.tracesOf([third[0]!.traceId])).toEqual(third);
    expect(await items.tracesOf([])).toEqual([]);
    const end = first.reduce((latest, span) => laterOf(latest, span.end!), first[0]!.end!);
    expect((await items.traces({ until: end, after: 0 })).spans).not.toContainEqual(first[0]);
    expect((await items.traces({ since: end, after: 0 })).spans).toContainEqual(first[0]);
  });

  test('are narrowed by time, tenant, pipeline and uuid', async () => {
    await history.record(ITEMS.map(item => ({ kind: 'item', item })));
    await using items = await opened();
    const [merged, failed] = ITEMS;
    const leftAt = endOfItem(merged!)!;
    const found = async (question: object) => (await items.page({ after: 0, ...question })).items.length;
    expect(await found({ pipeline: merged!.pipeline })).toBe(1);
    expect(await found({ tenant: 'another' })).toBe(0);
    expect(await found({ uuids: [failed!.uuid, 'unknown'] })).toBe(1);
    expect(await found({ since: leftAt, pipeline: merged!.pipeline })).toBe(1);
    expect(await found({ until: leftAt, pipeline: merged!.pipeline })).toBe(0);
  });

  test('say which installation recorded them', async () => {
    await using before = await opened();
    expect(before.installation).toBeNull();
    await history.useFor('installation-1');
    await using after = await opened();
    expect(after.installation).toBe('installation-1');
  });

  test('are refused in words when the tables are of an older or a newer version, which stay as they are', async () => {
    const database = new Kysely<Record<string, never>>({
      dialect:
        place.kind === 'sqlite'
          ? nodeSqliteDialect(place.path)
          : postgresDialect(place.uri.reveal(), () => {}),
    });
    try {
      await sql`update kysely_migration set name = '9999-later' where name like '0003%'`.execute(database);
      expect(await refusal(place)).toMatch(
        /was written by a newer version; use the gatehouse that wrote it$/,
      );
      await sql`delete from kysely_migration where name = '9999-later'`.execute(database);
      expect(await refusal(place)).toMatch(
        /was written by an older version; start the service of this version once/,
      );
      await sql`drop table kysely_migration`.execute(database);
      expect(await refusal(place)).toMatch(/is no history database of Gatehouse$/);
    } finally {
      await database.destroy();
    }
  });

  async function opened(): Promise<FinishedItems> {
    const found = await openFinishedItems(place);
    if (found.kind === 'refused') throw new Error(found.text);
    return found.items;
  }
});

test('a history that is not there is refused and not made', async () => {
  const path = join(tmpdir(), 'gatehouse-no-such-directory', 'history.sqlite');
  expect(await refusal({ kind: 'sqlite', path })).toMatch(/^there is no history at .*; is \[database\]/);
});

test('a server that does not answer is named without its password', async () => {
  const uri = new Secret('postgresql://gate:secret@127.0.0.1:1/gatehouse');
  const text = await refusal({ kind: 'postgresql', uri });
  expect(text).toMatch(/^the history database postgresql:\/\/127.0.0.1:1\/gatehouse cannot be read: /);
  expect(text).not.toContain('secret');
});

async function refusal(place: HistoryPlace): Promise<string> {
  const found = await openFinishedItems(place);
  if (found.kind === 'refused') return found.text;
  await found.items[Symbol.asyncDispose]();
  throw new Error('it was opened');
}

async function allPages(items: FinishedItems, from: number | null): Promise<readonly QueueItem[]> {
  const found: QueueItem[] = [];
  for (let after = from; after !== null; ) {
    const page = await items.page({ after });
    found.push(...page.items);
    after = page.next;
  }
  return found;
}

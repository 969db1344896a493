import { once } from 'node:events';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type PostgresServer, startPostgres } from '../../fake/postgres-server.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => server.clear());

async function clients<Count extends 2 | 8>(count: Count) {
  const stack = new AsyncDisposableStack();
  const connected = await Promise.all(
    Array.from({ length: count }, async () => {
      const client = new pg.Client({ connectionString: server.uri, query_timeout: 10_000 });
      await client.connect();
      stack.defer(() => client.end());
      return client;
    }),
  );
  const [one, two] = connected;
  if (one === undefined || two === undefined) throw new Error('no clients');
  return { all: connected, one, two, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test('a statement that fails costs no other client the answer to its own, before its own client goes on', async () => {
  await using open = await clients(2);
  const { one, two } = open;
  const failed = once(one, 'error');
  // In parts, as it may arrive: the session ignores everything from the failed part to the Sync.
  one.connection.parse({ name: '', text: 'select nothing from nowhere', types: [] }, true);
  for (const number of [1, 2, 3])
    expect((await two.query(`select ${number} as number`)).rows).toEqual([{ number }]);
  one.connection.sync();
  expect(await failed).toMatchObject([{ message: 'relation "nowhere" does not exist' }]);
  expect((await two.query('select $1::int as number', [4])).rows).toEqual([{ number: 4 }]);
});

test('each client is asked and answered by itself when many ask with values at once', async () => {
  await using open = await clients(8);
  const asked = open.all.map((client, index) => client.query('select $1::int as number', [index]));
  const answers = await Promise.all(asked);
  expect(answers.map(({ rows }) => rows[0].number)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
});

test('others wait for the end of a transaction, and one whose client goes is undone', async () => {
  await using open = await clients(2);
  const { one, two } = open;
  await one.query('create table kept (name text)');
  await one.query('begin');
  await one.query("insert into kept values ('lost')");
  const order: string[] = [];
  const read = two.query('select name from kept').then(({ rows }) => {
    order.push('read');
    return rows;
  });
  await one.query("insert into kept values ('lost as well')");
  order.push('written');
  await one.end();
  expect(await read).toEqual([]);
  expect(order).toEqual(['written', 'read']);
});

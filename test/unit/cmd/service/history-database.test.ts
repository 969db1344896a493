import { beforeEach, expect, test } from 'vitest';
import { compareHistoryDatabase, useHistoryDatabase } from '../../../../src/cmd/service/history-database.ts';
import { randomIds } from '../../../../src/lib/ids.ts';
import type { Log } from '../../../../src/lib/log.ts';
import { openEmbeddedStore } from '../../../../src/store/embedded/server.ts';
import { installationId } from '../../../../src/store/installation.ts';
import { storePaths } from '../../../../src/store/paths.ts';

const paths = storePaths('/gatehouse');
let store: ReturnType<ReturnType<typeof openEmbeddedStore>['connect']>;
let errors: string[];
let users: Map<string, string>;
const ids = randomIds();

beforeEach(() => {
  store = openEmbeddedStore({ file: ':memory:' }).connect();
  errors = [];
  users = new Map();
});

function web(id: string) {
  const log: Log = {
    debug() {},
    info() {},
    warn() {},
    error: (_, text) => void errors.push(text),
    child: () => log,
  };
  const history = {
    id,
    async useFor(installation: string) {
      users.set(id, installation);
    },
  };
  return { store, paths, history, log, ids };
}

test('webs with the same database have nothing to say', async () => {
  await compareHistoryDatabase(web('shared'));
  await useHistoryDatabase(web('shared'));
  await compareHistoryDatabase(web('shared'));
  await useHistoryDatabase(web('shared'));
  expect(errors).toEqual([]);
});

test('a web whose database is not the one that is written says so, with what to do', async () => {
  await useHistoryDatabase(web('of one machine'));
  await compareHistoryDatabase(web('of another'));
  expect(errors).toEqual([expect.stringContaining('give all webs the same [database] dburi')]);
});

test('a web that begins to write elsewhere says once that the past is not there', async () => {
  await useHistoryDatabase(web('of one machine'));
  await useHistoryDatabase(web('of another'));
  await useHistoryDatabase(web('of another'));
  expect(errors).toEqual([expect.stringContaining('this one lacks everything that ended before')]);
});

test('the web that writes history records the installation in the database', async () => {
  await compareHistoryDatabase(web('only looked at'));
  await useHistoryDatabase(web('written'));
  expect([...users]).toEqual([['written', await installationId(store, paths, ids)]]);
});

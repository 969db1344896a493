/** What is asked of a service's history while it runs. */
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { openHistory } from '../../src/history/history.ts';
import { itemsInHistory } from './landed.ts';

test('items are read from a history that this process is writing', async () => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'gatehouse-landed-'));
  const file = path.join(folder.path, 'history.sqlite');
  await (await openHistory({ kind: 'sqlite', path: file })).close();
  using writer = new DatabaseSync(file);
  writer.exec('begin immediate');
  expect(await itemsInHistory(folder.path, 'tenant-one')).toEqual([]);
});

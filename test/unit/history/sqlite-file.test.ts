import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSqliteFile } from '../../../src/history/sqlite-file.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-sqlite-'));
});
afterAll(async () => await rm(folder, { recursive: true }));

/** Makes the file and has begun to write into it when this resolves; commits after `ms`. */
async function startWriter(file: string, ms: number): Promise<Worker> {
  const writer = new Worker(WRITER, { eval: true, workerData: { file, ms } });
  await new Promise((resolve, reject) => {
    writer.once('message', resolve);
    writer.once('error', reject);
  });
  return writer;
}

const WRITER = `
  const { DatabaseSync } = require('node:sqlite');
  const { parentPort, workerData } = require('node:worker_threads');
  const database = new DatabaseSync(workerData.file);
  database.exec('create table written (x); begin immediate; insert into written values (1)');
  parentPort.postMessage('begun');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, workerData.ms);
  database.exec('commit');
  database.close();
`;

describe('a SQLite file', () => {
  test('is opened while another process makes it and writes: the second one waits', async () => {
    const file = path.join(folder, 'made.sqlite');
    const writer = await startWriter(file, 200);
    const database = openSqliteFile(file);
    expect(database.prepare('select x from written').all()).toEqual([{ x: 1 }]);
    expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
    database.close();
    await writer.terminate();
  });
});

import { afterEach, beforeEach, expect, test } from 'vitest';
import { createHistoryDelivery } from '../../../src/cmd/service/history-delivery.ts';
import type { History } from '../../../src/history/history.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { historyRowsCodec } from '../../../src/model/codec/records.ts';
import type { HistoryRow } from '../../../src/model/history.ts';
import { decodeDeadLetter } from '../../../src/store/dead-letter.ts';
import { type EmbeddedStore, openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { ensureNode } from '../../../src/store/ensure-node.ts';
import { outboxOperation } from '../../../src/store/outbox.ts';
import { storePaths } from '../../../src/store/paths.ts';
import type { Store } from '../../../src/store/port.ts';
import { eventually } from '../../conformance/store/eventually.ts';
import { newerRecord } from '../../fake/newer-record.ts';
import { itemStory } from '../../fake/queue-item.ts';
import { SILENT } from '../../fake/silent-log.ts';

const paths = storePaths('/gatehouse');
const ROW: HistoryRow = { kind: 'item', item: itemStory().item };

let server: EmbeddedStore;
let store: Store;
let recorded: HistoryRow[];

beforeEach(async () => {
  server = openEmbeddedStore({ file: ':memory:' });
  store = server.connect();
  recorded = [];
  await ensureNode(store, paths.historyOutbox);
});
afterEach(() => server.close());

async function write(...rows: readonly Uint8Array[]): Promise<void> {
  for (const row of rows) await store.multi([outboxOperation(paths.historyOutbox, row)]);
}

function run(signal: AbortSignal): Promise<void> {
  const history = {
    record: async (rows: readonly HistoryRow[]) => void recorded.push(...rows),
  } as unknown as History;
  const drain = createHistoryDelivery({ history, store, paths, clock: systemClock(), log: SILENT });
  return drain.run(signal);
}

const waiting = async () => (await store.children(paths.historyOutbox))?.length;

test('an unreadable row is quarantined, and the others become history', async () => {
  const half = historyRowsCodec.encode([ROW]).subarray(0, 100);
  await write(historyRowsCodec.encode([ROW]), half, historyRowsCodec.encode([ROW]));
  const stop = new AbortController();
  const running = run(stop.signal);
  await eventually(async () => (await waiting()) === 0);
  stop.abort(new Error('the end'));
  await running;
  expect(recorded).toEqual([ROW, ROW]);
  const [copy] = (await store.children(paths.quarantine)) ?? [];
  const node = await store.get(`${paths.quarantine}/${copy}`);
  expect(decodeDeadLetter(node?.data ?? new Uint8Array())).toMatchObject({
    from: paths.historyOutbox,
    bytes: half,
  });
});

test('a row of a newer version ends the drain and is not lost', async () => {
  await write(newerRecord(historyRowsCodec));
  await expect(run(AbortSignal.timeout(5000))).rejects.toThrow(`version ${historyRowsCodec.version + 1}`);
  expect(await waiting()).toBe(1);
  expect(recorded).toEqual([]);
});

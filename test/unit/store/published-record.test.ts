import { expect, test } from 'vitest';
import { openRecordView } from '../../../src/cmd/service/record-view.ts';
import { fromMilliseconds } from '../../../src/lib/clock.ts';
import { senderReportCodec } from '../../../src/model/codec/records.ts';
import type { SenderReport } from '../../../src/model/sender-report.ts';
import { openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { storePaths } from '../../../src/store/paths.ts';
import { publishRecord } from '../../../src/store/published-record.ts';
import { eventually } from '../../conformance/store/eventually.ts';
import { SILENT } from '../../fake/silent-log.ts';

const path = storePaths('/gatehouse').senderReport;

function reportOf(sent: number): SenderReport {
  return {
    at: fromMilliseconds(1_000 + sent),
    host: 'ci1',
    endpoint: 'http://collector:4317',
    protocol: 'grpc',
    state: 'ok',
    sent,
    requests: sent,
    failedRequests: 0,
    partialSuccesses: 0,
    lost: {},
    lastError: null,
    lastSentAt: null,
  };
}

test('what one process publishes is seen by all, one write for a burst of changes', async () => {
  await using server = openEmbeddedStore({ file: ':memory:' });
  const store = server.connect();
  using seen = await openRecordView(server.connect(), path, senderReportCodec, error => {
    throw error;
  });
  expect(seen.value()).toBeUndefined();

  let sent = 1;
  let rested = Promise.withResolvers<void>();
  const reporting = publishRecord({
    ...{ store, path, what: 'the report', log: SILENT },
    encode: () => senderReportCodec.encode(reportOf(sent)),
    pause: () => rested.promise,
  });
  const over = Promise.withResolvers<void>();
  const stop = new AbortController();
  const during = reporting.during(stop.signal, () => over.promise);
  await eventually(() => expect(seen.value()?.sent).toBe(1));

  for (sent = 2; sent < 100; sent++) reporting.touch();
  expect(seen.value()?.sent).toBe(1);
  const before = (await store.get(path))?.stat.version ?? 0;
  const next = Promise.withResolvers<void>();
  const first = rested;
  rested = next;
  first.resolve();
  await eventually(() => expect(seen.value()?.sent).toBe(100));
  expect((await store.get(path))?.stat.version).toBe(before + 1);

  sent = 101;
  next.resolve();
  over.resolve();
  await during;
  await eventually(() => expect(seen.value()?.sent).toBe(101));
});

test('without contact the work goes on; its failure is not that of the report', async () => {
  await using server = openEmbeddedStore({ file: ':memory:' });
  const store = server.connect();
  const reporting = publishRecord({
    ...{ store, path, what: 'the report', log: SILENT },
    encode: () => senderReportCodec.encode(reportOf(1)),
  });
  await expect(
    reporting.during(new AbortController().signal, async () => {
      await server.expire(store.sessionId);
      throw new Error('the work failed');
    }),
  ).rejects.toThrow('the work failed');
});

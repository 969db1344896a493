import { expect, test } from 'vitest';
import { elected } from '../../../../src/cmd/service/elected.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import { openEmbeddedStore } from '../../../../src/store/embedded/server.ts';
import { ensureNode } from '../../../../src/store/ensure-node.ts';
import { outboxOperation } from '../../../../src/store/outbox.ts';
import { createOutboxDrain } from '../../../../src/store/outbox-drain.ts';
import { storePaths } from '../../../../src/store/paths.ts';
import type { Store } from '../../../../src/store/port.ts';
import { eventually } from '../../../conformance/store/eventually.ts';

const paths = storePaths('/gatehouse');

test('of two processes one delivers; when it dies the other goes on with what waits', async () => {
  await using server = openEmbeddedStore({ file: ':memory:' });
  const writer = server.connect();
  await ensureNode(writer, paths.historyOutbox);
  const delivered: string[] = [];
  const process = (name: string, store: Store) =>
    elected({ store, path: paths.election('history'), guid: name }, signal =>
      createOutboxDrain({
        store,
        path: paths.historyOutbox,
        async deliver(rows) {
          for (const row of rows) delivered.push(`${name} ${new TextDecoder().decode(row)}`);
          return 'delivered';
        },
        clock: systemClock(),
        bounds: { maxAgeMs: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY },
        random: () => 0,
      }).run(signal),
    );
  const write = (text: string) =>
    writer.multi([outboxOperation(paths.historyOutbox, new TextEncoder().encode(text))]);

  const sessionOfA = server.connect();
  const a = process('a', sessionOfA);
  await write('1');
  await eventually(() => delivered.length === 1);
  const b = process('b', server.connect());
  await write('2');
  await eventually(() => delivered.length === 2);
  await server.expire(sessionOfA.sessionId);
  await expect(a.ended).rejects.toMatchObject({ code: 'SessionExpired' });
  await write('3');
  await eventually(() => delivered.length === 3);
  expect(delivered).toEqual(['a 1', 'a 2', 'b 3']);
  await b.close();
  await b.ended;
});

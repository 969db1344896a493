/** From the history outbox to SQL. History waits for its database without bound: it is not telemetry. */
import type { History } from '../../history/history.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { historyRowsCodec } from '../../model/codec/records.ts';
import type { HistoryRow } from '../../model/history.ts';
import { createOutboxDrain, type OutboxDrain } from '../../store/outbox-drain.ts';
import type { StorePaths } from '../../store/paths.ts';
import type { Store } from '../../store/port.ts';

export function createHistoryDelivery(deps: {
  readonly history: History;
  readonly store: Store;
  readonly paths: StorePaths;
  readonly clock: Clock;
  readonly log: Log;
}): OutboxDrain {
  return createOutboxDrain({
    store: deps.store,
    path: deps.paths.historyOutbox,
    async deliver(rows) {
      await deps.history.record(rows.flatMap(row => readable(row, deps.log)));
      return 'delivered';
    },
    clock: deps.clock,
    bounds: { maxAgeMs: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY },
    backoff: { firstMs: 100, maxMs: 10_000 },
    random: Math.random,
    onRetry: (attempt, reason) =>
      deps.log.warn({ attempt, err: reason }, 'history could not be written; trying again'),
  });
}

/** A row nobody can read must not stop the ones behind it. */
function readable(row: Uint8Array, log: Log): readonly HistoryRow[] {
  try {
    return historyRowsCodec.decode(row);
  } catch (error) {
    log.error({ err: error, bytes: row.byteLength }, 'a history row cannot be read and is dropped');
    return [];
  }
}

/**
 * From the history outbox to SQL. Unlike telemetry, history waits for its database without limit. Rows of a newer version end the
 * drain: an upgraded process delivers them.
 */
import type { History } from '../../history/history.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { isBrokenRecord } from '../../model/codec/record.ts';
import { historyRowsCodec } from '../../model/codec/records.ts';
import type { HistoryRow } from '../../model/history.ts';
import { createOutboxDrain, type OutboxDrain } from '../../store/outbox-drain.ts';
import type { StorePaths } from '../../store/paths.ts';
import type { Store } from '../../store/port.ts';
import { createQuarantine } from '../../store/quarantine.ts';

/** Retries have pauses of up to 10 s. Run it only as the leader; it does not close its dependencies. */
export function createHistoryDelivery(deps: {
  readonly history: History;
  readonly store: Store;
  readonly paths: StorePaths;
  readonly clock: Clock;
  readonly log: Log;
}): OutboxDrain {
  const quarantine = createQuarantine({ ...deps, path: deps.paths.quarantine });
  return createOutboxDrain({
    store: deps.store,
    path: deps.paths.historyOutbox,
    async deliver(rows) {
      const readable = await Promise.all(rows.map(row => read(row)));
      await deps.history.record(readable.flat());
      return 'delivered';
    },
    clock: deps.clock,
    bounds: { maxAgeMs: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY },
    backoff: { firstMs: 100, maxMs: 10_000 },
    random: Math.random,
    onRetry: (attempt, reason) =>
      deps.log.warn({ attempt, err: reason }, 'cannot write history; trying again'),
  });

  /** An unreadable row is quarantined, so that it does not block the rows behind it. */
  async function read(row: Uint8Array): Promise<readonly HistoryRow[]> {
    try {
      return historyRowsCodec.decode(row);
    } catch (error) {
      if (!isBrokenRecord(error)) throw error;
      await quarantine.keep(deps.paths.historyOutbox, row, error);
      return [];
    }
  }
}

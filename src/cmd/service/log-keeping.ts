/** What an executor does with logs of builds that have ended: packed, stored in the bucket of `[log_store]`, removed for their age. */
import { type LogKeeper, startLogKeeper } from '../../executor/log-store/log-keeper.ts';
import { pruneBucket } from '../../executor/log-store/prune-bucket.ts';
import { openS3Bucket } from '../../executor/log-store/s3-bucket.ts';
import { pruneLogs } from '../../executor/prune-logs.ts';
import { toMilliseconds } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Measurement } from '../../metrics/measurement.ts';
import type { WorkerCore } from './worker-core.ts';

/** Works until it is disposed of. */
export interface LogKeeping extends AsyncDisposable {
  readonly keeper: LogKeeper;
  /** Waits, with a limit, for what the bucket does not have yet: the machine may go next. */
  drain(): Promise<void>;
  measurements(): readonly Measurement[];
}

/** Milliseconds an executor that stops gracefully waits for the bucket. */
const DRAIN_LIMIT = 300_000;

/** @param log of the executor. Its log directory exists. */
export function startLogKeeping({ settings, host, clock, metrics }: WorkerCore, log: Log): LogKeeping {
  const { logDir, keepLogs } = settings.executor;
  const labels = { executor: host };
  const stop = new AbortController();
  const bucket = settings.logStore === undefined ? undefined : openS3Bucket(settings.logStore);
  const now = () => toMilliseconds(clock.now());
  const keeper = startLogKeeper({
    ...{ logDir, bucket, log, now },
    onStored: outcome =>
      metrics.record([{ metric: 'gatehouse_logs_stored', labels: { ...labels, outcome }, value: 1 }]),
  });
  const pruning = {
    ...{ keep: keepLogs, now, log },
    onPruned: (value: number) => metrics.record([{ metric: 'gatehouse_logs_pruned', labels, value }]),
  };
  const loops = [
    pruneLogs({ ...pruning, logDir }, stop.signal),
    ...(bucket === undefined ? [] : [pruneBucket({ ...pruning, bucket }, stop.signal)]),
  ];
  return {
    keeper,
    async drain() {
      if (bucket === undefined) return;
      const builds = await keeper.drained(DRAIN_LIMIT);
      if (builds > 0)
        log.warn(
          { builds, logDir },
          `logs of ${builds} builds are not in ${bucket.place} yet; the next executor with this log_dir stores them`,
        );
    },
    measurements() {
      if (bucket === undefined) return [];
      const { builds, bytes, oldestMs } = keeper.waiting();
      return [
        { metric: 'gatehouse_logs_waiting', labels, value: builds },
        { metric: 'gatehouse_logs_waiting_bytes', labels, value: bytes },
        { metric: 'gatehouse_logs_waiting_oldest_seconds', labels, value: oldestMs / 1000 },
      ];
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await keeper[Symbol.asyncDispose]();
      await Promise.all(loops);
      bucket?.[Symbol.dispose]();
    },
  };
}

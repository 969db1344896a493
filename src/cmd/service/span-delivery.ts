/** From the span outbox to the collector: one sender per process, one drain per store session. */
import { readFileSync } from 'node:fs';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { stripUserinfo } from '../../lib/redact.ts';
import type { SenderReport } from '../../model/sender-report.ts';
import type { TracingOn } from '../../settings/tracing-settings.ts';
import { createOutboxDrain, type OutboxDrain } from '../../store/outbox-drain.ts';
import type { StorePaths } from '../../store/paths.ts';
import type { Store } from '../../store/port.ts';
import { otlpExporter } from '../../tracing/otlp/exporter.ts';
import { type SpanSender, spanSender } from '../../tracing/otlp/sender.ts';
import type { SenderHealth } from '../../tracing/otlp/sender-health.ts';
import { installationOf } from './own-installation.ts';

/** All but clock, log and backlog shape the bytes that are sent. */
export interface SpanSenderDeps {
  readonly settings: TracingOn;
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
  /** Id of the installation, the same in all its processes, so that resent spans are byte-identical. */
  readonly instance: string;
  /** The installation's only machine; undefined: there may be several. */
  readonly host: string | undefined;
  /** Number of waiting rows. */
  readonly backlog: () => number;
}

/** @throws Error when a TLS file is unreadable or invalid. */
export function createSpanSender(deps: SpanSenderDeps): SpanSender {
  const { settings, clock, log, backlog } = deps;
  const exporter = otlpExporter({
    protocol: settings.protocol,
    endpoint: settings.endpoint,
    insecure: settings.insecure,
    tls: tlsFiles(settings),
    headers: settings.headers,
    timeoutMs: settings.timeoutMs,
    compression: settings.compression,
    installation: installationOf(settings, deps),
  });
  return spanSender({ exporter, clock, log, random: Math.random, backlog });
}

/** `sender` outlives the drain, which ends with its session. */
export interface SpanDrainDeps {
  readonly settings: TracingOn;
  readonly sender: SpanSender;
  readonly store: Store;
  readonly paths: StorePaths;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when the sender's health changes. */
  readonly onProgress: () => void;
  /** Waits before a retry; default by the real clock. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Rows beyond the age and size that `[tracing]` allows are dropped, logged and counted as lost. Run it only as the leader. */
export function createSpanDrain(deps: SpanDrainDeps): OutboxDrain {
  const { settings, sender, store, paths, clock, log, onProgress } = deps;
  return createOutboxDrain({
    store,
    path: paths.spanOutbox,
    deliver: rows => sender.deliver(rows).finally(onProgress),
    clock,
    bounds: { maxAgeMs: settings.outboxMaxAge * 1000, maxBytes: settings.outboxMaxBytes },
    random: Math.random,
    ...(deps.pause === undefined ? {} : { pause: deps.pause }),
    onRetry: (attempt, reason) =>
      log.debug({ attempt, err: reason }, 'cannot send spans to the collector; trying again'),
    onDropped(reason, { rows, values }) {
      log.error({ reason, rows, spans: values }, 'spans were dropped');
      sender.noteLost(reason, values);
      onProgress();
    },
  });
}

/** @throws Error of the file system, with the path, when one cannot be read. */
export function tlsFiles({ tls }: TracingOn): { ca?: Buffer; cert?: Buffer; key?: Buffer } {
  return {
    ...(tls.ca === undefined ? {} : { ca: readFileSync(tls.ca) }),
    ...(tls.cert === undefined ? {} : { cert: readFileSync(tls.cert) }),
    ...(tls.key === undefined ? {} : { key: readFileSync(tls.key) }),
  };
}

/** The sender's state, for every web to show. */
export function senderReport(
  health: SenderHealth,
  { endpoint, protocol }: TracingOn,
  writer: Pick<SenderReport, 'at' | 'host'>,
): SenderReport {
  const { state, sent, requests, failedRequests, partialSuccesses, lost, lastError, lastSentAt } = health;
  const { hours } = health.traces;
  return {
    ...writer,
    endpoint: stripUserinfo(endpoint),
    protocol,
    state,
    sent,
    requests,
    failedRequests,
    partialSuccesses,
    lost,
    lastError,
    lastSentAt,
    ...(hours.length === 0 ? {} : { traces: hours }),
  };
}

/** From the span outbox to the collector: exporter, sender and drain, put together from `[tracing]`. */
import { readFileSync } from 'node:fs';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { TracingOn } from '../../settings/tracing-settings.ts';
import { createOutboxDrain, type OutboxDrain } from '../../store/outbox-drain.ts';
import type { StorePaths } from '../../store/paths.ts';
import type { Store } from '../../store/port.ts';
import { otlpExporter } from '../../tracing/otlp/exporter.ts';
import { resourceOf } from '../../tracing/otlp/resource.ts';
import { listenToSdk } from '../../tracing/otlp/sdk-diagnostics.ts';
import { type SpanSender, spanSender } from '../../tracing/otlp/sender.ts';

export interface SpanDeliveryDeps {
  readonly settings: TracingOn;
  readonly store: Store;
  readonly paths: StorePaths;
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
  readonly host: string;
  /** `service.instance.id`: no other process has it at the same time. */
  readonly instance: string;
  readonly component: string;
}

export interface SpanDelivery {
  readonly drain: OutboxDrain;
  readonly sender: SpanSender;
}

/** @throws Error when a TLS file cannot be read or does not hold what it should. */
export function createSpanDelivery(deps: SpanDeliveryDeps): SpanDelivery {
  const { settings, clock, log } = deps;
  const exporter = otlpExporter(
    {
      endpoint: settings.endpoint,
      insecure: settings.insecure,
      tls: tlsFiles(settings),
      headers: settings.headers,
      timeoutMs: settings.timeoutMs,
      compression: settings.compression,
      version: deps.version,
      resource: resourceOf({
        serviceName: settings.serviceName,
        serviceVersion: deps.version,
        instanceId: deps.instance,
        hostName: deps.host,
        component: deps.component,
        extra: settings.resourceAttributes,
      }),
    },
    listenToSdk(log),
  );
  const sender = spanSender({
    exporter,
    clock,
    log,
    random: Math.random,
    backlog: () => drain.counters().depth,
  });
  const drain = createOutboxDrain({
    store: deps.store,
    path: deps.paths.spanOutbox,
    deliver: rows => sender.deliver(rows),
    clock,
    bounds: { maxAgeMs: settings.outboxMaxAge * 1000, maxBytes: settings.outboxMaxBytes },
    random: Math.random,
    onRetry: (attempt, reason) => log.debug({ attempt, err: reason }, 'spans wait for the collector'),
    onLost(reason, rows) {
      log.error({ reason, rows }, 'spans were given up');
      // What the sender refused it has counted; rows the bounds dropped were never handed to it.
      if (reason === 'too-old' || reason === 'outbox-full') sender.noteLost(reason, rows);
    },
  });
  return { drain, sender };
}

function tlsFiles({ tls }: TracingOn): { ca?: Buffer; cert?: Buffer; key?: Buffer } {
  return {
    ...(tls.ca === undefined ? {} : { ca: readFileSync(tls.ca) }),
    ...(tls.cert === undefined ? {} : { cert: readFileSync(tls.cert) }),
    ...(tls.key === undefined ? {} : { key: readFileSync(tls.key) }),
  };
}

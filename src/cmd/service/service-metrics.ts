/** What this process can look up for its metrics: the span outbox as its drain last saw it, and its sender. */
import type { Measurement } from '../../metrics/measurement.ts';
import type { SpanDelivery } from './deliveries.ts';

export function deliveryMeasurements({
  sender,
  outbox,
}: Pick<SpanDelivery, 'sender' | 'outbox'>): readonly Measurement[] {
  const counters = outbox();
  const health = sender()?.health();
  const labels = { outbox: 'spans' };
  return [
    ...(counters === undefined
      ? []
      : ([
          { metric: 'gatehouse_outbox_rows', labels, value: counters.depth },
          { metric: 'gatehouse_outbox_bytes', labels, value: counters.bytes },
          { metric: 'gatehouse_outbox_oldest_seconds', labels, value: counters.oldestAgeMs / 1000 },
        ] as const)),
    ...(health === undefined
      ? []
      : ([
          { metric: 'gatehouse_spans_sent', labels: {}, value: health.sent },
          { metric: 'gatehouse_span_requests_failed', labels: {}, value: health.failedRequests },
          { metric: 'gatehouse_span_requests_partial', labels: {}, value: health.partialSuccesses },
        ] as const)),
    ...Object.entries(health?.lost ?? {}).map(
      ([reason, value]): Measurement => ({ metric: 'gatehouse_spans_lost', labels: { reason }, value }),
    ),
  ];
}

import { expect, test } from 'vitest';
import { usageMeasurements } from '../../../../src/cmd/service/service-metrics.ts';
import type { HostUsage } from '../../../../src/driver/usage.ts';
import { fromMilliseconds } from '../../../../src/lib/clock.ts';

function metricsOf(stream: HostUsage['stream']): readonly string[] {
  const usage = { requests: [], budgets: [], closedReports: 0, ...(stream === undefined ? {} : { stream }) };
  const found = usageMeasurements([{ name: 'review', usage: { now: () => usage } }]);
  return [...found]
    .filter(({ metric }) => metric.includes('stream'))
    .map(({ metric, labels, value }) => `${metric} ${JSON.stringify(labels)} ${value}`);
}

test('an event stream is measured by the process that reads it', () => {
  expect(metricsOf(undefined)).toEqual([]);
  const labels = '{"connection":"review"}';
  expect(metricsOf({ connected: true, lastLineAt: null, gaps: 2 })).toEqual([
    `gatehouse_connection_stream_connected ${labels} 1`,
    `gatehouse_connection_stream_gaps ${labels} 2`,
  ]);
  expect(metricsOf({ connected: false, lastLineAt: fromMilliseconds(5_000), gaps: 3 })).toEqual([
    `gatehouse_connection_stream_connected ${labels} 0`,
    `gatehouse_connection_stream_gaps ${labels} 3`,
    `gatehouse_connection_stream_last_line_timestamp_seconds ${labels} 5`,
  ]);
});

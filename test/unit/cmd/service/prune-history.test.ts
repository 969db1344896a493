import { expect, test } from 'vitest';
import { pruneHistory } from '../../../../src/cmd/service/prune-history.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import type { Measurement } from '../../../../src/metrics/measurement.ts';
import { SILENT } from '../../../fake/silent-log.ts';

test('the history is pruned step by step until nothing old is left, and what is gone is counted', async () => {
  const clock = systemClock();
  const steps = [
    { items: 200, decisions: 200 },
    { items: 0, decisions: 30 },
    { items: 0, decisions: 0 },
  ];
  const asked: (string | undefined)[] = [];
  const counted: Measurement[] = [];
  const stop = new AbortController();
  const logged: string[] = [];
  await pruneHistory(
    {
      keep: 86_400,
      clock,
      log: {
        ...SILENT,
        info(_facts, text) {
          logged.push(text);
          stop.abort();
        },
      },
      metrics: { record: (all: readonly Measurement[]) => void counted.push(...all) } as never,
      history: {
        async prune({ before }) {
          asked.push(before);
          return { traces: 0, ...(steps.shift() ?? { items: 0, decisions: 0 }) };
        },
      },
    },
    stop.signal,
  );
  expect(asked).toHaveLength(3);
  expect(new Set(asked).size).toBe(1);
  expect(logged).toEqual(['pruned 200 old items from the history']);
  expect(counted.map(({ value }) => value)).toEqual([200, 200, 0, 0, 30, 0]);
});

import { expect, test } from 'vitest';
import type { ReportEnd } from '../../../src/model/queue-item.ts';
import type { Step } from '../../../src/model/step.ts';
import { withReportDone } from '../../../src/pipeline/report-item.ts';
import { at, itemStory } from '../../fake/queue-item.ts';

const steps: readonly Step[] = Array.from({ length: 50 }, (_, index) => ({
  ...({ kind: 'HostQuery', subject: String(index), startedAt: at(1), endedAt: at(2) } as const),
}));

function done(outcome: ReportEnd) {
  const part = {
    kind: 'HostMerge',
    connection: 'local',
    startedAt: at(1),
    endedAt: at(2),
    tries: 3,
  } as const;
  return { at: at(3), outcome, parts: [{ ...part, outcome, steps }] };
}

test('an item whose host is away for days keeps the steps of its first attempts and of the one that ends it', () => {
  let { item } = itemStory();
  for (let attempt = 0; attempt < 200; attempt++) {
    const uuid = `${attempt}`.padStart(32, '0') as typeof item.uuid;
    const record = { uuid, action: 'success', requestedAt: at(1), done: null } as const;
    item = withReportDone(
      { ...item, reports: [...item.reports, record] },
      uuid,
      done(attempt < 199 ? 'failed' : 'done'),
    );
  }
  const kept = item.reports.map(report => report.done?.parts[0]?.steps?.length ?? 0);
  expect(kept.filter(count => count > 0)).toEqual([50, 50, 50, 50]);
  expect(kept.at(-1)).toBe(50);
});

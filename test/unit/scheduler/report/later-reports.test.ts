import { expect, test } from 'vitest';
import { parseNanoseconds } from '../../../../src/lib/clock.ts';
import { randomIds } from '../../../../src/lib/ids.ts';
import { projectKey } from '../../../../src/model/project.ts';
import type { ReportIntent } from '../../../../src/model/report-intent.ts';
import { createLaterReports } from '../../../../src/scheduler/report/later-reports.ts';
import { proposedChange } from '../../../fake/queue-item.ts';
import { NO_DETAILS } from '../../../fake/records.ts';

const ids = randomIds();

function about(name: string): ReportIntent {
  const change = { ...proposedChange('master/login'), project: projectKey({ connection: 'local', name }) };
  return {
    uuid: ids.uuid(),
    tenant: 'acme',
    pipeline: 'check',
    item: null,
    action: 'start',
    result: '',
    requestedAt: parseNanoseconds('1795000000000000000'),
    message: '',
    url: '',
    details: NO_DETAILS,
    parts: [{ connection: 'local', config: {}, merges: false, change }],
  };
}

function standing() {
  let now = 0;
  const later = createLaterReports({ monotonic: () => now });
  return {
    later,
    advance(ms: number): void {
      now += ms;
    },
  };
}

test('a repository that does not take its reports is asked ever more rarely, and holds up no other', () => {
  const { later, advance } = standing();
  const waits: number[] = [];
  for (let tries = 0; tries < 8; tries++) {
    const due = later.add(about('acme/app'), 0);
    expect(later.holds(about('acme/app'))).toBe(true);
    expect(later.holds(about('acme/lib'))).toBe(false);
    waits.push(due);
    advance(due);
    expect(later.holds(about('acme/app'))).toBe(false);
  }
  expect(waits).toEqual(waits.toSorted((a, b) => a - b));
  expect(waits.at(-1)).toBeLessThanOrEqual(60_000);
});

test('until the time the host named it is not asked, but for an hour at most', () => {
  const { later, advance } = standing();
  expect(later.add(about('acme/app'), 600_000)).toBe(600_000);
  advance(599_999);
  expect(later.holds(about('acme/app'))).toBe(true);
  advance(1);
  expect(later.add(about('acme/app'), 86_400_000)).toBe(3_600_000);
});

test('who waits for the answer decides when to ask', () => {
  const { later } = standing();
  later.add(about('acme/app'), 600_000);
  expect(later.holds({ ...about('acme/app'), awaited: true })).toBe(false);
});

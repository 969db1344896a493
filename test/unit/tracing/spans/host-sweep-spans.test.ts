import { expect, test } from 'vitest';
import { derivedUuid } from '../../../../src/lib/ids.ts';
import { hostSweepSpans } from '../../../../src/tracing/spans/host-sweep-spans.ts';
import { asArrived, checkTraces } from '../../../fake/check-traces.ts';
import { at } from '../../../fake/queue-item.ts';

const STYLE = { names: 'gatehouse' } as const;
const pass = {
  pass: derivedUuid('pass'),
  connection: 'github',
  startedAt: at(0),
  endedAt: at(90),
  projects: 20,
  changes: 7,
  missed: 0,
  redelivered: 0,
  closed: 0,
  steps: [{ kind: 'HostQuery', subject: 'list-pulls', startedAt: at(5), endedAt: at(80) }],
} as const;

test('a pass that found something is a trace of its own, with its requests', () => {
  const spans = hostSweepSpans({ ...pass, missed: 2, redelivered: 1 }, STYLE);
  expect(spans.map(({ name, kind }) => [name, kind])).toEqual([
    ['HostSweep github', 'internal'],
    ['HostQuery list-pulls', 'client'],
  ]);
  expect(spans[0]?.attributes).toMatchObject({
    'gatehouse.connection': 'github',
    'gatehouse.sweep.projects': 20,
    'gatehouse.sweep.changes': 7,
    'gatehouse.sweep.missed_count': 2,
    'gatehouse.sweep.redelivered_count': 1,
    'gatehouse.sweep.closed_count': 0,
  });
  expect(checkTraces(spans.map(asArrived))).toEqual([]);
});

test('a pass that found nothing has no trace', () => {
  expect(hostSweepSpans(pass, STYLE)).toEqual([]);
});

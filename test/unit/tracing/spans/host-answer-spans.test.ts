import { expect, test } from 'vitest';
import { derivedUuid } from '../../../../src/lib/ids.ts';
import { rootSpanOf } from '../../../../src/tracing/span-ids.ts';
import { hostAnswerSpans } from '../../../../src/tracing/spans/host-answer-spans.ts';
import { asArrived, checkTraces } from '../../../fake/check-traces.ts';
import { at, proposedChange } from '../../../fake/queue-item.ts';

const STYLE = { names: 'gatehouse' } as const;
const origins = ['first', 'second', 'third'].map(seed => ({
  span: rootSpanOf(derivedUuid(seed)),
  sampled: seed !== 'second',
}));
const facts = {
  answer: derivedUuid('answer'),
  connection: 'github',
  change: proposedChange('master/one'),
  by: 'bob',
  origins,
  askedAt: at(0),
  endedAt: at(90),
  tries: 2,
  outcome: 'done',
  steps: [{ kind: 'HostQuery', subject: 'create-comment', startedAt: at(5), endedAt: at(80) }],
} as const;

test('an answer is a trace of its own that leads to the sampled events that asked', () => {
  const spans = hostAnswerSpans(facts, STYLE);
  expect(spans.map(({ name, kind }) => [name, kind])).toEqual([
    ['HostAnswer github', 'client'],
    ['HostQuery create-comment', 'client'],
  ]);
  const asked = [origins[0]?.span.traceId, origins[2]?.span.traceId];
  expect(spans[0]?.links.map(({ traceId }) => traceId)).toEqual(asked);
  expect(spans[0]?.attributes).toMatchObject({
    'gatehouse.connection': 'github',
    'gatehouse.by': 'bob',
    'gatehouse.attempt_count': 2,
    'gatehouse.report.outcome': 'done',
    'gatehouse.link.follows': asked,
    'vcs.change.id': 'master/one',
  });
  expect(checkTraces(spans.map(asArrived))).toEqual([]);
});

test('an answer that the host did not take says why, also about a change that is gone', () => {
  for (const outcome of ['failed', 'host'] as const) {
    const [root, ...steps] = hostAnswerSpans({ ...facts, change: facts.change.key, outcome }, STYLE);
    expect(root?.attributes).toMatchObject({
      'gatehouse.report.outcome': 'failed',
      'gatehouse.reason': outcome,
      'gatehouse.result': 'ERROR',
    });
    expect(root?.status.code).toBe('error');
    expect(checkTraces([root!, ...steps].map(asArrived))).toEqual([]);
  }
});

test('an answer to events that are not sampled has no trace', () => {
  expect(hostAnswerSpans({ ...facts, origins: origins.slice(1, 2) }, STYLE)).toEqual([]);
});

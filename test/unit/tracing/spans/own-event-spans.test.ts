import { describe, expect, it } from 'vitest';
import { derivedUuid, spanIdOf, traceIdOf } from '../../../../src/lib/ids.ts';
import { changeKey } from '../../../../src/model/change.ts';
import type { ManagementOrigin } from '../../../../src/model/management-event.ts';
import { rootSpanOf } from '../../../../src/tracing/span-ids.ts';
import { internalEventSpans } from '../../../../src/tracing/spans/internal-event-spans.ts';
import {
  type ManagementEventFacts,
  managementEventSpans,
} from '../../../../src/tracing/spans/management-event-spans.ts';
import { type LayoutRenewal, takeoverSpans } from '../../../../src/tracing/spans/reconfigure-spans.ts';
import { asArrived, checkTraces } from '../../../fake/check-traces.ts';
import { APP, at, proposedChange } from '../../../fake/queue-item.ts';

const STYLE = { names: 'gatehouse' } as const;
const culprit = derivedUuid('item in the gate');
const left = [
  { item: derivedUuid('one'), change: 'acme/app master/one', code: 'superseded' },
  { item: derivedUuid('two'), change: 'acme/app master/two', code: 'superseded' },
] as const;

const renewal: LayoutRenewal = {
  startedAt: at(10),
  endedAt: at(60),
  version: 7,
  errors: 2,
  reads: [
    {
      project: APP,
      askedAt: at(11),
      answeredAt: at(50),
      worker: 'merger-1',
      // Its clock is ahead of ours.
      steps: [{ kind: 'FetchRefs', subject: APP, startedAt: at(20), endedAt: at(70) }],
    },
  ],
};

describe('the trace of an event of our own', () => {
  const facts = {
    event: derivedUuid('internal'),
    type: 'superseded',
    tenant: 'acme',
    pipeline: 'check',
    project: APP,
    change: proposedChange('master/one'),
    queuedAt: at(0),
    takenAt: at(5),
    endedAt: at(80),
    origin: { span: rootSpanOf(culprit), relation: 'caused_by' },
    effect: { outcome: 'dequeued', left },
    renewal: null,
  } as const;

  it('names who did it, and each item that left because of it', () => {
    const spans = internalEventSpans(facts, STYLE);
    expect(spans.map(span => span.name)).toEqual(['InternalEvent superseded', 'EventQueued', 'EventProcess']);
    expect(spans[0]!.links).toEqual([
      { ...rootSpanOf(culprit), attributes: { 'gatehouse.link.relation': 'caused_by' } },
    ]);
    expect(spans[0]!.attributes).toMatchObject({
      'gatehouse.link.caused_by': culprit,
      'gatehouse.event.outcome': 'dequeued',
      'gatehouse.reason': 'superseded',
      'gatehouse.item.id': left[0].item,
      'vcs.repository.name': 'acme/app',
      'vcs.change.id': 'master/one',
    });
    expect(spans[0]!.events.map(({ attributes }) => attributes['gatehouse.item.id'])).toEqual(
      left.map(({ item }) => item),
    );
    expect(checkTraces(spans.map(asArrived))).toEqual([]);
  });

  it('shows the new layout a first look led to, with what mergers did for it', () => {
    const spans = internalEventSpans(
      {
        ...facts,
        type: 'first-look',
        origin: { span: rootSpanOf(culprit), relation: 'follows' },
        effect: { outcome: 'reconfigured', left: [] },
        renewal,
      },
      STYLE,
    );
    expect(spans.map(span => span.name)).toEqual([
      'InternalEvent first-look',
      'EventQueued',
      'EventProcess',
      'Reconfigure',
      `MergerJob ${APP}`,
      `FetchRefs ${APP}`,
    ]);
    expect(spans[0]!.attributes['gatehouse.link.follows']).toBe(culprit);
    expect(spans[3]!.parent).toBe(spans[2]!.spanId);
    expect(checkTraces(spans.map(asArrived))).toEqual([]);
  });
});

describe('the trace of an operator’s request', () => {
  const origin: ManagementOrigin = { receivedAt: at(0), storedAt: at(2), sampled: true };
  const facts: ManagementEventFacts = {
    event: derivedUuid('management'),
    command: 'dequeue',
    by: 'alice',
    tenant: 'acme',
    pipeline: 'gate',
    change: changeKey(APP, 'master/one'),
    origin,
    takenAt: at(9),
    endedAt: at(10),
    effect: { outcome: 'refused', reason: 'being-reported', left: [] },
  };
  const command = { traceId: traceIdOf(derivedUuid('command')), spanId: spanIdOf(derivedUuid('request')) };

  it('shows how long it lay, and why nothing came of it', () => {
    const spans = managementEventSpans(facts, STYLE);
    expect(spans.map(span => span.name)).toEqual([
      'ManagementEvent dequeue',
      'EventReceive',
      'EventQueued',
      'EventProcess',
    ]);
    expect(spans[0]!.attributes).toMatchObject({
      'gatehouse.command': 'dequeue',
      'gatehouse.event.outcome': 'refused',
      'gatehouse.reason': 'being-reported',
      'gatehouse.change': 'acme/app master/one',
    });
    expect(spans[2]).toMatchObject({ start: at(2), end: at(9) });
    expect(checkTraces(spans.map(asArrived))).toEqual([]);
  });

  it('names the project and the revision of a change we know', () => {
    const [root] = managementEventSpans({ ...facts, change: proposedChange('master/one') }, STYLE);
    expect(root!.attributes).toMatchObject({
      'gatehouse.project': APP,
      'vcs.change.id': 'master/one',
      'vcs.ref.base.name': 'master',
    });
  });

  it('is a trace of its own, with a link to who asked', () => {
    const spans = managementEventSpans({ ...facts, origin: { ...origin, caller: command } }, STYLE);
    const [root] = spans;
    expect(new Set(spans.map(span => span.traceId))).toEqual(new Set([traceIdOf(facts.event)]));
    expect(root).toMatchObject({ spanId: spanIdOf(facts.event), parent: null, kind: 'server' });
    expect(root!.links).toMatchObject([command]);
    expect(root!.attributes['gatehouse.link.caller']).toBe(command.traceId);
    expect(spans.slice(1).every(span => span.parent === root!.spanId)).toBe(true);
  });
});

it('a layout that a new holder made is a trace of its own', () => {
  const takeover = { pass: derivedUuid('pass'), tenant: 'acme', reason: 'files-missing' } as const;
  const spans = takeoverSpans(takeover, renewal, STYLE);
  expect(spans[0]).toMatchObject({
    name: 'Reconfigure',
    parent: null,
    kind: 'internal',
    attributes: {
      'gatehouse.tenant': 'acme',
      'gatehouse.reason': 'files-missing',
      'gatehouse.layout.version': 7,
      'gatehouse.errors': 2,
      'gatehouse.project': [APP],
    },
  });
  expect(checkTraces(spans.map(asArrived))).toEqual([]);
});

it('a layout made of thousands of projects shows the reads that took longest', () => {
  const [read] = renewal.reads;
  if (read === undefined) throw new Error('nothing was read');
  const reads = Array.from({ length: 2_000 }, (_, index) => ({
    ...read,
    answeredAt: at(12 + index / 100),
    steps: [],
  }));
  const takeover = { pass: derivedUuid('pass'), tenant: 'acme', reason: 'first-layout' } as const;
  const spans = takeoverSpans(takeover, { ...renewal, reads }, STYLE);
  expect(spans).toHaveLength(101);
  expect(spans[1]!.end).toBe(reads.at(-1)?.answeredAt);
});

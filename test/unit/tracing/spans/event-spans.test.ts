import { describe, expect, it } from 'vitest';
import { derivedUuid } from '../../../../src/lib/ids.ts';
import type { TriggerEvent } from '../../../../src/model/event.ts';
import { rootSpanOf } from '../../../../src/tracing/span-ids.ts';
import { type IngestionFacts, ingestionSpans } from '../../../../src/tracing/spans/ingestion-spans.ts';
import { itemSpans } from '../../../../src/tracing/spans/item-spans.ts';
import {
  type TenantEventFacts,
  tenantEventSpans,
  tenantRenewalSpans,
} from '../../../../src/tracing/spans/tenant-event-spans.ts';
import { asArrived, checkTraces } from '../../../fake/check-traces.ts';
import { APP, at, itemStory, proposedChange } from '../../../fake/queue-item.ts';

const STYLE = { names: 'gatehouse' } as const;
const event = derivedUuid('event');

const ingestion: IngestionFacts = {
  event,
  connection: 'local',
  driver: 'git',
  type: 'proposed',
  answered: [],
  deliveryId: 'd-1',
  project: APP,
  change: proposedChange('master/login'),
  receivedAt: at(0),
  storedAt: at(1),
  processing: { startedAt: at(3), endedAt: at(20), tries: 1, failures: [], waits: [], queries: [] },
  endedAt: at(22),
  outcome: { kind: 'forwarded', tenants: ['acme', 'other'] },
  causedBy: null,
  sampled: true,
};

const trigger: TriggerEvent = {
  uuid: event,
  connection: 'local',
  driver: 'git',
  type: 'proposed',
  project: APP,
  branch: 'master',
  ref: null,
  change: proposedChange('master/login'),
  facts: { comment: 'MUST-NOT-LEAVE' },
  configMayHaveChanged: [],
  branchesChanged: false,
  receivedAt: at(0),
  sampled: true,
  span: rootSpanOf(event),
};

const tenant: TenantEventFacts = {
  event: derivedUuid('tenant-event'),
  tenant: 'acme',
  trigger,
  queuedAt: at(22),
  takenAt: at(25),
  queries: [],
  pipelines: [
    {
      pipeline: 'check',
      at: at(41),
      outcome: 'matched',
      code: 'trigger-matched',
      text: 'matched event proposed',
    },
    {
      pipeline: 'gate',
      at: at(41),
      outcome: 'refused',
      code: 'requirement-not-met',
      text: 'no approval by maintainer',
    },
  ],
  endedAt: at(42),
  gaveUp: false,
};

describe('the trace of an event', () => {
  it('shows each stage and its tenants', () => {
    const spans = ingestionSpans(ingestion, STYLE);
    expect(spans.map(span => span.name)).toEqual([
      'GitEvent proposed',
      'EventReceive',
      'EventQueued',
      'EventProcess',
      'EventForward',
    ]);
    expect(spans[0]!.attributes).toMatchObject({
      'gatehouse.event.outcome': 'forwarded',
      'gatehouse.tenants': ['acme', 'other'],
      'gatehouse.delivery.id': 'd-1',
      'gatehouse.event.id': event,
      'vcs.repository.name': 'acme/app',
    });
    expect(checkTraces(spans.map(asArrived))).toEqual([]);
  });

  it('says what happened in the host’s word, and how it was found', () => {
    const rootOf = (facts: Partial<IngestionFacts>) =>
      ingestionSpans({ ...ingestion, ...facts }, STYLE)[0]!.attributes;
    const delivered = rootOf({ receiver: 'web1', action: 'labeled' });
    expect(delivered).toMatchObject({
      'gatehouse.event.action': 'labeled',
      'gatehouse.event.found_by': 'webhook',
    });
    expect(rootOf({ foundBy: 'sweep' })).toMatchObject({ 'gatehouse.event.found_by': 'sweep' });
  });

  it('says why it was discarded', () => {
    const outcome = { kind: 'discarded', reason: 'no tenant holds the project' } as const;
    const spans = ingestionSpans({ ...ingestion, outcome }, STYLE);
    expect(spans.map(span => span.name)).not.toContain('EventForward');
    expect(spans[0]!.attributes['gatehouse.reason']).toBe('no tenant holds the project');
    expect(spans[0]!.status.code).toBe('unset');
    expect(checkTraces(spans.map(asArrived))).toEqual([]);
  });

  it('links to the deed of ours that led to it', () => {
    const item = itemStory().item;
    const [root] = ingestionSpans(
      { ...ingestion, driver: 'internal', causedBy: rootSpanOf(item.uuid) },
      STYLE,
    );
    expect(root!.attributes).toMatchObject({
      'gatehouse.span.type': 'InternalEvent',
      'gatehouse.link.caused_by': item.uuid,
    });
    expect(root!.links[0]).toMatchObject(rootSpanOf(item.uuid));
  });

  it('is nothing when not sampled', () => {
    expect(ingestionSpans({ ...ingestion, sampled: false }, STYLE)).toEqual([]);
    expect(tenantEventSpans({ ...tenant, trigger: { ...trigger, sampled: false } }, STYLE)).toEqual([]);
  });
});

describe('the trace of an event in a tenant', () => {
  const renewal = { startedAt: at(26), endedAt: at(40), version: 7, errors: 0, reads: [] };
  const spans = [...tenantEventSpans(tenant, STYLE), ...tenantRenewalSpans({ ...tenant, renewal }, STYLE)];

  it('has the decision of each pipeline', () => {
    expect(spans.map(span => span.name)).toEqual(['TenantEvent proposed', 'EventQueued', 'Reconfigure']);
    expect(spans[0]!.events).toEqual([
      {
        at: at(41),
        name: 'matched',
        attributes: {
          'gatehouse.pipeline': 'check',
          'gatehouse.code': 'trigger-matched',
          'gatehouse.text': 'matched event proposed',
        },
      },
      {
        at: at(41),
        name: 'refused',
        attributes: {
          'gatehouse.pipeline': 'gate',
          'gatehouse.code': 'requirement-not-met',
          'gatehouse.text': 'no approval by maintainer',
        },
      },
    ]);
    expect(checkTraces(spans.map(asArrived))).toEqual([]);
    expect(JSON.stringify(spans)).not.toContain('MUST-NOT-LEAVE');
  });

  it('connects event, tenant and item by links in two hops', () => {
    const item = { ...itemStory().item };
    const follows = { ...item, origin: { ...item.origin, tenantSpan: rootSpanOf(tenant.event) } };
    const root = itemSpans(follows)[0]!;
    expect(root.links[0]!.traceId).toBe(spans[0]!.traceId);
    expect(spans[0]!.links[0]!.traceId).toBe(ingestionSpans(ingestion, STYLE)[0]!.traceId);
    expect(spans[0]!.links[0]!.spanId).toBe(ingestionSpans(ingestion, STYLE)[0]!.spanId);
  });
});

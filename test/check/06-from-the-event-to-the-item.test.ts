/** Check 06: from an item's trace to the event that caused it by links alone, and from a merge to what followed from it. */
import { expect } from 'vitest';
import type { SinkSpan } from '../fake/otlp-sink.ts';
import { classicLayout, layoutWith } from '../scenario/layouts.ts';
import { TENANT } from '../scenario/site.ts';
import { story } from '../scenario/story.ts';
import type { World } from '../scenario/world.ts';
import { byTrace, kindOf, kindsBelow, linked, relationsOf } from './spans-by.ts';

const ANOTHER = 'tenant-two';

function rootsOf(world: World, kind: string, isWanted: (span: SinkSpan) => boolean = () => true) {
  return world.sink.spans.filter(
    span => kindOf(span) === kind && span.parentSpanId === null && isWanted(span),
  );
}

story(
  'check 06: one event is one trace, one more per tenant, and one per item, in three hops at most; an unwanted event says why',
  { layout: classicLayout({ check: true }), moreTenants: [ANOTHER] },
  async world => {
    world.free();
    const commit = await world.propose('A');
    await world.leaves('A', 'SUCCESS', 'check');
    await world.observer.until('both items to arrive', () => rootsOf(world, 'QueueItem').length === 2);
    const { spans } = world.sink;
    const items = rootsOf(world, 'QueueItem');
    const tenants = items.map(item => linked(item, 'follows', spans));
    expect(items.map(item => item.attributes['gatehouse.tenant']).toSorted()).toEqual([TENANT, ANOTHER]);
    expect(tenants.map(tenant => tenant?.attributes['gatehouse.tenant'])).toEqual(
      items.map(item => item.attributes['gatehouse.tenant']),
    );
    const events = tenants.map(tenant => linked(tenant, 'follows', spans));
    expect(new Set(events.map(event => event?.traceId)).size).toBe(1);
    const [event] = events;
    expect(event?.attributes).toMatchObject({
      'gatehouse.span.type': 'GitEvent',
      'gatehouse.event.type': 'proposed',
      'gatehouse.event.outcome': 'forwarded',
      'gatehouse.tenants': [TENANT, ANOTHER],
    });
    expect(kindsBelow(event, world.sink.spans)).toEqual([
      'EventReceive',
      'EventQueued',
      'EventProcess',
      'EventForward',
    ]);
    const asked = (byTrace(spans).get(event?.traceId ?? '') ?? []).filter(
      span => kindOf(span) === 'HostQuery',
    );
    expect(asked.map(span => span.attributes['gatehouse.query'])).toEqual(['refs', 'fetch', 'commits']);
    expect(items.every(item => item.attributes['gatehouse.event.id'] === event?.traceId)).toBe(true);
    await unwanted(world, commit);
  },
);

async function unwanted(world: World, commit: string): Promise<void> {
  // Nothing has moved since.
  await world.push('org/project', commit, 'refs/heads/for/master/A');
  // Understood, and no pipeline is triggered by it.
  await world.abandon('A');
  const ignored = await world.observer.until('both tenants to ignore it', () => {
    const found = rootsOf(
      world,
      'TenantEvent',
      span => span.attributes['gatehouse.event.outcome'] === 'ignored',
    );
    return found.length === 2 ? found : undefined;
  });
  for (const tenant of ignored) {
    expect(linked(tenant, 'follows', world.sink.spans)?.attributes['gatehouse.span.type']).toBe('GitEvent');
    expect(tenant.events.length).toBeGreaterThan(0);
    for (const { name, attributes } of tenant.events) {
      expect(name).toBe('refused');
      expect(attributes['gatehouse.text']).toMatch(/\w+ \w+/);
    }
  }
  const discarded = rootsOf(
    world,
    'GitEvent',
    span => span.attributes['gatehouse.event.outcome'] === 'discarded',
  );
  expect(discarded.map(span => span.attributes['gatehouse.reason'])).toContain('the refs are as they were');
  const items = rootsOf(world, 'QueueItem');
  expect(items).toHaveLength(2);
}

const PROJECT = `
- job:
    name: unit
- project:
    name: org/project
    gate: {jobs: [unit]}
    post: {jobs: [unit]}
`;

story(
  'check 06: what a merge of ours sets off leads back to the item that merged, and an item to those it needs',
  { layout: layoutWith(PROJECT, { post: true }) },
  async world => {
    await world.propose('A');
    await world.propose('B', { on: 'A' });
    await world.approve('A');
    await world.approve('B');
    world.free();
    const [a, b] = [await world.leaves('A', 'SUCCESS'), await world.leaves('B', 'SUCCESS')];
    const ofItem = (uuid: string) => rootsOf(world, 'QueueItem', span => span.traceId === uuid)[0];
    await world.observer.until(
      'what followed from both merges',
      () => ofItem(b.uuid) && posts(world).length >= 1,
    );
    const { spans } = world.sink;
    const needs = ofItem(b.uuid);
    expect(linked(needs, 'depends_on', spans)).toBe(ofItem(a.uuid));
    expect(needs?.attributes['gatehouse.link.depends_on']).toEqual([a.uuid]);
    for (const post of posts(world)) {
      const event = linked(linked(post, 'follows', spans), 'follows', spans);
      expect(event?.attributes['gatehouse.event.type']).toBe('ref-updated');
      const merged = event && relationsOf(event).get('caused_by')?.traceId;
      expect([a.uuid, b.uuid]).toContain(merged);
      expect(event?.attributes['gatehouse.link.caused_by']).toBe(merged);
    }
  },
);

function posts(world: World): readonly SinkSpan[] {
  return rootsOf(world, 'QueueItem', span => span.attributes['gatehouse.pipeline'] === 'post');
}

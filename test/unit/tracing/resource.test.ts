import { describe, expect, test } from 'vitest';
import { type Installation, resourceOf, resources, rootService } from '../../../src/tracing/resource.ts';
import { makerOf } from '../../../src/tracing/span-maker.ts';
import { itemSpans } from '../../../src/tracing/spans/item-spans.ts';
import { INSTALLATION } from '../../fake/installation.ts';
import { resetAndMergedStory } from '../../fake/item-stories.ts';

const spans = itemSpans(resetAndMergedStory().item);
const kindOf = ({ attributes }: { readonly attributes: object }) =>
  String(new Map(Object.entries(attributes)).get('gatehouse.span.type'));
const scheduler = { component: 'scheduler', worker: undefined } as const;
const executor = { component: 'executor', worker: 'ci2' } as const;

test('every span of an item says which process made it', () => {
  const made = Map.groupBy(spans, span => {
    const { component, worker } = makerOf(span);
    return worker === undefined ? component : `${component} on ${worker}`;
  });
  const kinds = Object.fromEntries(
    [...made].map(([maker, own]) => [maker.replace(/\d+$/, 'N'), [...new Set(own.map(kindOf))].toSorted()]),
  );
  expect(kinds).toMatchObject({
    scheduler: expect.arrayContaining([
      'QueueItem',
      'Wait',
      'BuildSet',
      'Merge',
      'Build',
      'ExecutorQueue',
      'Report',
    ]),
  });
  for (const span of spans) {
    const { component, worker } = makerOf(span);
    expect([kindOf(span), component === 'scheduler', worker]).toEqual([
      kindOf(span),
      worker === undefined,
      component === 'scheduler' ? undefined : span.attributes['gatehouse.worker'],
    ]);
  }
  expect(
    new Set(spans.filter(span => kindOf(span) === 'MergerJob').map(span => makerOf(span).component)),
  ).toEqual(new Set(['merger']));
  expect(
    new Set(spans.filter(span => kindOf(span) === 'Playbook').map(span => makerOf(span).component)),
  ).toEqual(new Set(['executor']));
});

describe('the resource', () => {
  test('of a worker names its machine, of a scheduler none where there may be several', () => {
    expect(resourceOf(INSTALLATION, executor)).toEqual({
      'service.name': 'gatehouse',
      'service.version': '0.1.0',
      'service.instance.id': 'i-1/executor/ci2',
      'host.name': 'ci2',
      'gatehouse.component': 'executor',
    });
    expect(resourceOf(INSTALLATION, scheduler)).toEqual({
      'service.name': 'gatehouse',
      'service.version': '0.1.0',
      'service.instance.id': 'i-1/scheduler',
      'gatehouse.component': 'scheduler',
    });
  });

  test('names the one machine there is on all spans', () => {
    const alone = { ...INSTALLATION, hostName: 'ci1' };
    expect(resourceOf(alone, scheduler)['host.name']).toBe('ci1');
    expect(resourceOf(alone, { component: 'executor', worker: 'ci1' })['host.name']).toBe('ci1');
  });

  test('takes what the environment says, but not another machine for that of a worker', () => {
    const named: Installation = {
      ...INSTALLATION,
      extra: new Map([
        ['host.name', 'the-sender'],
        ['service.instance.id', 'blue'],
        ['deployment.environment.name', 'test'],
        ['gatehouse.component', 'forged'],
      ]),
    };
    expect(resourceOf(named, scheduler)).toMatchObject({
      'host.name': 'the-sender',
      'service.instance.id': 'blue/scheduler',
      'deployment.environment.name': 'test',
      'gatehouse.component': 'scheduler',
    });
    expect(resourceOf(named, executor)).toMatchObject({
      'host.name': 'ci2',
      'service.instance.id': 'blue/executor/ci2',
    });
    expect(resourceOf({ ...named, hostName: 'ci2' }, executor)['host.name']).toBe('the-sender');
  });

  test('has a service of its own for each component where that is wanted', () => {
    const each = { ...INSTALLATION, servicePerComponent: true };
    expect(resourceOf(each, executor)).toMatchObject({
      'service.name': 'gatehouse-executor',
      'service.namespace': 'gatehouse',
    });
    expect(rootService(each)).toBe(resourceOf(each, scheduler)['service.name']);
    expect(rootService(INSTALLATION)).toBe('gatehouse');
  });

  test('is one object for all spans of a process, in any order', () => {
    const of = resources(INSTALLATION);
    const made = new Set(spans.map(of));
    expect(made.size).toBe(new Set([...made].map(each => JSON.stringify(each))).size);
    expect(made.size).toBeGreaterThan(2);
  });
});

import { expect } from 'vitest';
import { ALLOWED } from '../../src/tracing/allowed-attributes.ts';
import { classicLayout } from './layouts.ts';
import { story } from './story.ts';

/** All that Zuul's source starts spans with; `Git` stands for any driver. */
const ZUUL = [
  'GitEvent',
  'GitEventProcessing',
  'TenantTriggerEventProcessing',
  'ZuulEvent',
  'TimerEvent',
  'QueueItem',
  'BuildSet',
  'Merge',
  'Cat',
  'RefState',
  'FilesChanges',
  'MergerJob',
  'RequestNodes',
  'NodesetRequest',
  'Build',
  'JobExecution',
  'BuildRepoUpdateLock',
  'BuildRepoUpdate',
  'BuildCloneRepo',
  'BuildMergeChanges',
  'BuildSetRepoState',
  'BuildCheckout',
];
/** What those of ours that mean the same are called otherwise. */
const RENAMED = ['RepoState', 'TenantEvent', 'InternalEvent', 'ConnectionEvent'];

story(
  'with span_names = zuul a whole run has exactly the names Zuul has, and the bare kinds of what Zuul does not trace',
  {
    layout: classicLayout({ check: true, gate: { more: ['supercedes: check'] } }),
    tracing: ['span_names = zuul'],
  },
  async world => {
    await world.propose('A', { project: 'org/project1' });
    await world.approve('A');
    world.free();
    await world.leaves('A', 'SUCCESS');
    await world.leaves('A', 'DEQUEUED', 'check');
    await world.observer.until('the traces to arrive', () =>
      world.sink.spans.some(
        span => span.name === 'QueueItem' && span.attributes['gatehouse.pipeline'] === 'gate',
      ),
    );
    const names = new Set(world.sink.spans.map(span => span.name));
    expect([...names].filter(name => ZUUL.includes(name)).toSorted()).toEqual(
      [
        'GitEvent',
        'GitEventProcessing',
        'TenantTriggerEventProcessing',
        'ZuulEvent',
        'QueueItem',
        'BuildSet',
        'Merge',
        'RefState',
        'MergerJob',
        'Build',
        'JobExecution',
        'BuildCloneRepo',
        'BuildSetRepoState',
        'BuildCheckout',
      ].toSorted(),
    );
    const ours: readonly string[] = [...ALLOWED.keys()];
    expect([...names].filter(name => !ZUUL.includes(name) && !ours.includes(name))).toEqual([]);
    expect([...names].filter(name => RENAMED.includes(name))).toEqual([]);
    const fromHosts = world.sink.spans.filter(span => span.name === 'GitEvent').map(span => span.traceId);
    const processed = world.sink.spans.filter(span => span.attributes['gatehouse.span'] === 'EventProcess');
    for (const { name, traceId } of processed)
      expect(name).toBe(fromHosts.includes(traceId) ? 'GitEventProcessing' : 'EventProcess');
  },
);

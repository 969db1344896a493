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
/** Attributes a Zuul 14.3 was seen to send, by span; of a ref update `QueueItem` has `ref_ref`, `ref_newrev` instead of a number. */
const ZUUL_ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  GitEvent: ['zuul_event_id'],
  Merge: ['buildset_uuid', 'uuid', 'zuul_event_id'],
  RefState: ['buildset_uuid', 'uuid', 'zuul_event_id'],
  MergerJob: ['merger'],
  Build: ['buildset_uuid', 'job', 'uuid', 'zuul_event_id'],
  JobExecution: ['hostname'],
  BuildCloneRepo: ['connection', 'project'],
  BuildCheckout: ['connection', 'project'],
  QueueItem: ['ref_number', 'ref_patchset', 'ref_project', 'zuul_event_id', 'zuul_pipeline', 'zuul_tenant'],
};
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
    for (const span of world.sink.spans) {
      const attributes = Object.keys(span.attributes).filter(
        key => !/^(gatehouse|cicd|vcs|error)\./.test(key),
      );
      if (span.name in ZUUL_ATTRIBUTES) expect(attributes.toSorted()).toEqual(ZUUL_ATTRIBUTES[span.name]);
    }
    const item = world.sink.spans.find(
      span => span.name === 'QueueItem' && span.attributes.zuul_pipeline === 'gate',
    );
    expect(item?.attributes).toMatchObject({
      zuul_tenant: 'tenant-one',
      zuul_event_id: item?.attributes['gatehouse.event.id'],
      ref_project: ['org/project1'],
      ref_number: ['master/A'],
    });
    const build = world.sink.spans.find(
      span =>
        span.name === 'Build' && span.traceId === item?.traceId && span.attributes.job === 'project-merge',
    );
    expect(build?.attributes.uuid).toBe(build?.attributes['gatehouse.build.id']);
    const fromHosts = world.sink.spans.filter(span => span.name === 'GitEvent').map(span => span.traceId);
    const processed = world.sink.spans.filter(
      span => span.attributes['gatehouse.span.type'] === 'EventProcess',
    );
    for (const { name, traceId } of processed)
      expect(name).toBe(fromHosts.includes(traceId) ? 'GitEventProcessing' : 'EventProcess');
  },
);

import { describe, expect, it } from 'vitest';
import { derivedSpanId, spanIdOf } from '../../../../src/lib/ids.ts';
import type { SpanRecord } from '../../../../src/model/span.ts';
import { playbookSpanId } from '../../../../src/tracing/span-ids.ts';
import { itemSpans } from '../../../../src/tracing/spans/item-spans.ts';
import { numberInName } from '../../../../src/tracing/spans/number-in-name.ts';
import { orderSpans } from '../../../../src/tracing/spans/order-spans.ts';
import { asArrived, checkTraces } from '../../../fake/check-traces.ts';
import { failedStory, resetAndMergedStory } from '../../../fake/item-stories.ts';
import { ahead, at, itemStory, jobNode, proposedChange } from '../../../fake/queue-item.ts';

function named(spans: readonly SpanRecord[], name: string): SpanRecord {
  const found = spans.filter(span => span.name === name);
  if (found.length !== 1)
    throw new Error(`${found.length} spans ${name} among ${spans.map(span => span.name).join(', ')}`);
  return found[0]!;
}

describe('spans of an item', () => {
  const item = resetAndMergedStory().item;
  const spans = itemSpans(item);

  it('hold together: one root, no orphans, children inside, causes named, every moment explained', () => {
    expect(checkTraces(spans.map(asArrived))).toEqual([]);
    expect(checkTraces(itemSpans(failedStory().item).map(asArrived))).toEqual([]);
  });

  it('have the uuids of the records as ids', () => {
    const root = named(spans, 'QueueItem gate');
    expect(root.traceId).toBe(item.uuid);
    expect(root.spanId).toBe(item.uuid.slice(0, 16));
    expect(named(spans, 'BuildSet 1').spanId).toBe(item.earlier[0]!.uuid.slice(0, 16));
    expect(new Set(spans.map(span => span.spanId)).size).toBe(spans.length);
    expect(new Set(spans.map(span => span.traceId))).toEqual(new Set([item.uuid]));
  });

  it('begin and end with the item, to the nanosecond', () => {
    const root = spans[0]!;
    expect(root.start).toBe(item.enqueuedAt);
    expect(root.end).toBe(item.phase.phase === 'left' ? item.phase.at : 'not left');
    expect(root.start.endsWith('456789')).toBe(true);
  });

  it('say why an item was tested again and link to the culprit', () => {
    const second = named(spans, 'BuildSet 2');
    const culprit = ahead();
    expect(second.attributes).toMatchObject({
      'gatehouse.cause.code': 'item-ahead-failed',
      'gatehouse.cause.text':
        'an item ahead failed: unit-tests of acme/app master/broken,deadbeef ended with FAILURE',
      'gatehouse.culprit.job': 'unit-tests',
      'gatehouse.link.caused_by': culprit.item,
      'gatehouse.result': 'SUCCESS',
    });
    expect(second.links).toEqual([
      {
        traceId: item.uuid,
        spanId: spanIdOf(item.earlier[0]!.uuid),
        attributes: { 'gatehouse.link.relation': 'previous' },
      },
      {
        traceId: culprit.item,
        spanId: spanIdOf(culprit.build!),
        attributes: { 'gatehouse.link.relation': 'caused_by' },
      },
    ]);
    const first = named(spans, 'BuildSet 1');
    expect(first.attributes['gatehouse.result']).toBe('SUPERSEDED');
    expect(first.attributes['gatehouse.superseded.code']).toBe('item-ahead-failed');
    expect(first.status).toEqual({ code: 'unset' });
  });

  it('show a cancelled build with its cause, ended, and not as an error', () => {
    const cancelled = spans.find(
      span => span.name === 'Build unit-tests' && span.attributes['gatehouse.result'] === 'CANCELED',
    )!;
    expect(cancelled.attributes).toMatchObject({
      'gatehouse.cause.code': 'reset',
      'cicd.pipeline.task.run.result': 'cancellation',
      'gatehouse.voting': true,
      'cicd.worker.name': 'executor-2',
    });
    expect(cancelled.status.code).toBe('unset');
    expect(cancelled.links.map(link => link.attributes['gatehouse.link.relation'])).toEqual(['caused_by']);
  });

  it('number the attempts and link a retry to the try before', () => {
    const retry = named(spans, 'Build unit-tests (attempt 2)');
    const lost = spans.find(span => span.attributes['gatehouse.result'] === 'RETRY')!;
    expect(retry.attributes['gatehouse.attempt']).toBe(2);
    expect(retry.links[0]).toMatchObject({
      spanId: lost.spanId,
      attributes: { 'gatehouse.link.relation': 'retry_of' },
    });
    expect(lost.status).toEqual({ code: 'error', message: 'RETRY' });
    expect(lost.attributes['error.type']).toBe('retry');
  });

  it('move a late executor’s times into the build and say by how much', () => {
    const build = spans.find(
      span => span.name === 'Build unit-tests' && span.attributes['gatehouse.result'] === 'CANCELED',
    )!;
    const execution = spans.find(
      span => span.name === 'JobExecution unit-tests' && span.parent === build.spanId,
    )!;
    expect(execution.end).toBe(build.end);
    expect(execution.attributes['gatehouse.clock_adjusted_ns']).toBe(60e6);
    const before = spans.find(span => span.name === 'JobExecution lint')!;
    expect(before.attributes['gatehouse.clock_adjusted_ns']).toBeUndefined();
  });

  it('count resets and the build time they cost on the root', () => {
    expect(spans[0]!.attributes['gatehouse.resets']).toBe(1);
    // lint ran 8.4 s; unit-tests 37 s until it was cancelled
    expect(spans[0]!.attributes['gatehouse.lost_build_seconds']).toBe(45.4);
  });

  it('follow from the tenant event', () => {
    expect(spans[0]!.links).toEqual([
      { ...item.origin.tenantSpan, attributes: { 'gatehouse.link.relation': 'follows' } },
    ]);
    expect(spans[0]!.attributes['gatehouse.link.follows']).toBe(item.origin.tenantSpan.traceId);
    expect(spans[0]!.kind).toBe('server');
  });

  it('carry one set of ids everywhere', () => {
    for (const span of spans) {
      expect(Object.values(span.attributes).every(value => value !== null && value !== undefined)).toBe(true);
      expect(span.attributes).toMatchObject({
        'gatehouse.tenant': 'acme',
        'gatehouse.pipeline': 'gate',
        'gatehouse.item.id': item.uuid,
        'gatehouse.event.id': item.origin.event,
      });
      expect(span.name.startsWith(String(span.attributes['gatehouse.span.type']))).toBe(true);
    }
  });

  it('name the change and its repository where people search for them, and in no span of which there are many', () => {
    const kinds = Map.groupBy(spans, span =>
      span.attributes['vcs.change.id'] === 'master/login' &&
      span.attributes['vcs.repository.name'] === 'acme/app'
        ? 'named'
        : 'not',
    );
    const kindsOf = (list: readonly SpanRecord[] | undefined) =>
      [...new Set(list?.map(span => span.attributes['gatehouse.span.type']))].sort();
    expect(kindsOf(kinds.get('named'))).toEqual([
      'Build',
      'BuildSet',
      'HostMerge',
      'JobExecution',
      'Merge',
      'QueueItem',
      'Report',
    ]);
    expect(kindsOf(kinds.get('not'))).toContain('Playbook');
  });

  it('of a report about several changes name the change of each part', () => {
    const changes = [item.changes[0], proposedChange('master/other')] as const;
    const reports = item.reports.map(report => {
      if (report.done === null) return report;
      const parts = report.done.parts.flatMap(part => changes.map(({ key }) => ({ ...part, change: key })));
      return { ...report, done: { ...report.done, parts } };
    });
    const merges = itemSpans({ ...item, changes, reports }).filter(({ name }) =>
      name.startsWith('HostMerge'),
    );
    expect(merges.map(({ attributes }) => attributes['vcs.change.id'])).toEqual([
      'master/login',
      'master/other',
    ]);
  });

  it('name the priority and the labels of a build that waits', () => {
    const queued = itemStory()
      .merge()
      .merged()
      .freeze([{ ...jobNode('unit'), labels: ['linux', 'gpu'] }]).item;
    const [build] = queued.buildset.builds;
    const builds = [{ ...build!, priority: 'high' as const }];
    const queue = named(
      itemSpans({ ...queued, position: 3, buildset: { ...queued.buildset, builds } }),
      'ExecutorQueue',
    );
    expect(queue.attributes).toMatchObject({
      'gatehouse.priority': 'high',
      'gatehouse.labels': ['linux', 'gpu'],
      'cicd.pipeline.task.name': 'unit',
    });
    expect(itemSpans({ ...queued, position: 3 })[0]!.attributes['gatehouse.position']).toBe(3);
  });

  it('name the worker on all that a merger did', () => {
    for (const kind of ['Merge', 'MergerJob', 'FetchRefs', 'MergeChanges']) {
      const [span] = spans.filter(each => each.attributes['gatehouse.span.type'] === kind);
      expect(span!.attributes['cicd.worker.name']).toBe(span!.attributes['gatehouse.worker']);
      expect(span!.attributes['cicd.worker.id']).toMatch(/^merger/);
    }
  });

  it('let nothing private out', () => {
    const text = JSON.stringify(spans);
    expect(text).not.toContain('MUST-NOT-LEAVE');
    expect(text).not.toContain('must-not-leave');
    expect(text).not.toContain('hunter2');
  });

  it('show a playbook under the id in the TRACEPARENT of its process', () => {
    const build = spans.find(span => span.name === 'Build lint')!;
    const playbook = spans.filter(span => span.name === 'Playbook run/test.sh');
    expect(playbook.map(span => span.spanId)).toContain(playbookSpanId(build.spanId, 'run/test.sh', 0));
  });

  it('are named by bare kind in Zuul’s manner', () => {
    const names = new Set(itemSpans(item, { names: 'zuul' }).map(span => span.name));
    expect([...names].sort()).toEqual([
      'Build',
      'BuildCheckout',
      'BuildRepoUpdate',
      'BuildSet',
      'Cleanup',
      'ExecutorQueue',
      'FetchRefs',
      'FreezeJob',
      'HostMerge',
      'JobExecution',
      'JobGraph',
      'JobSetup',
      'Layout',
      'Merge',
      'MergeChanges',
      'MergerJob',
      'Playbook',
      'QueueItem',
      'Report',
      'Wait',
    ]);
  });

  it('distinguish steps of the same name', () => {
    const story = itemStory();
    story.merge().wait(10).merged().freeze(['a']).wait(1).start('a').wait(100).finish('a', 'SUCCESS');
    const build = story.item.buildset.builds[0]!;
    if (build.state.state !== 'completed' || build.state.execution === null) throw new Error('not completed');
    const twice = [...build.state.execution.steps, ...build.state.execution.steps];
    const state = { ...build.state, execution: { ...build.state.execution, steps: twice } };
    const spans = itemSpans({
      ...story.item,
      buildset: { ...story.item.buildset, builds: [{ ...build, state }] },
    });
    const ids = spans.map(span => span.spanId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toContain(playbookSpanId(spanIdOf(build.uuid), 'run/test.sh', 1));
  });

  it('list a cycle of changes as arrays', () => {
    const changes = [proposedChange('master/a'), proposedChange('master/b')] as const;
    const root = itemSpans(itemStory({ changes: [changes[0], changes[1]] }).item)[0]!;
    expect(root.attributes['vcs.change.id']).toEqual(['master/a', 'master/b']);
    expect(root.attributes['vcs.repository.name']).toEqual(['acme/app', 'acme/app']);
  });

  it('keep a build where it ran when a reset found the tested tree unchanged', () => {
    const story = itemStory();
    story.merge().wait(10).merged().freeze(['a']).wait(1).start('a').wait(100).finish('a', 'SUCCESS');
    const build = story.item.buildset.builds[0]!;
    story.reset().wait(5);
    const { item } = story;
    const spans = itemSpans({ ...item, buildset: { ...item.buildset, builds: [build] } });
    expect(spans.filter(span => span.spanId === spanIdOf(build.uuid)).map(span => span.parent)).toEqual([
      spanIdOf(item.earlier[0]!.uuid),
    ]);
  });

  it('name a merge conflict with its files and end a merge without an answer', () => {
    const conflict = itemStory().merge().wait(9).merged(2, 'conflict').item;
    const merge = named(itemSpans(conflict), 'Merge');
    expect(merge.status).toEqual({ code: 'error', message: 'MERGE_CONFLICT' });
    expect(merge.attributes['gatehouse.conflict.files']).toEqual(['src/login.ts']);
    const left = itemStory().merge().wait(9).leave('abandoned', 'DEQUEUED').item;
    expect(named(itemSpans(left), 'Merge')).toMatchObject({
      end: at(9),
      attributes: { 'gatehouse.result': 'CANCELED' },
    });
  });

  it('close what a record forgot to close when the item has left', () => {
    const story = itemStory()
      .merge()
      .wait(9)
      .merged()
      .freeze(['a', jobNode('b')])
      .wait(1)
      .start('a')
      .wait(10);
    const broken = {
      ...story.item,
      phase: { phase: 'left', at: story.now, reason: 'dequeued-by-hand', result: 'DEQUEUED' } as const,
    };
    expect(itemSpans(broken).filter(span => span.end === null)).toEqual([]);
    expect(checkTraces(itemSpans(broken).map(asArrived))).toEqual([]);
  });
});

describe('the trace of an item that is still at work', () => {
  it('shows open spans with the ids they will be exported under, in drawing order', () => {
    const story = itemStory({ state: 'merge' })
      .merge()
      .wait(9)
      .merged()
      .freeze(['a', 'b'])
      .wait(3)
      .start('a');
    const rows = orderSpans(itemSpans(story.item));
    expect(
      rows.map(row => `${'  '.repeat(row.depth)}${row.span.name}${row.span.end === null ? ' …' : ''}`),
    ).toMatchInlineSnapshot(`
      [
        "QueueItem gate …",
        "  BuildSet 1 …",
        "    Merge",
        "      MergerJob",
        "        FetchRefs local/acme/app",
        "        MergeChanges local/acme/app",
        "    Layout",
        "    JobGraph",
        "      FreezeJob a",
        "      FreezeJob b",
        "    Build a …",
        "      ExecutorQueue",
        "    Build b …",
        "      ExecutorQueue …",
        "  Wait executor",
      ]
    `);
    const root = spanIdOf(story.item.uuid);
    const wait = rows.find(row => row.span.name === 'Wait executor')!;
    expect(wait.span.spanId).toBe(derivedSpanId(root, 'Wait executor', 2));
  });
});

describe('names of spans', () => {
  it('are few, however many changes, attempts and resets there are', () => {
    expect([1, 9, 10, 4711].map(numberInName)).toEqual(['1', '9', '10+', '10+']);
  });
});

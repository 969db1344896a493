import { describe, expect, it } from 'vitest';
import { derivedUuid, spanIdOf, traceIdOf } from '../../../src/lib/ids.ts';
import type { PipelineEvent } from '../../../src/model/event.ts';
import {
  buildLogFacts,
  decisionLogFacts,
  eventLogFacts,
  itemLogFacts,
  pipelineEventLogFacts,
  reportLogFacts,
} from '../../../src/tracing/log-facts.ts';
import { itemSpans } from '../../../src/tracing/spans/item-spans.ts';
import { failedStory } from '../../fake/item-stories.ts';
import { at } from '../../fake/queue-item.ts';

describe('facts of a log line', () => {
  const { item } = failedStory();
  const spans = itemSpans(item);
  const find = (kind: string) => spans.find(({ attributes }) => attributes['gatehouse.span.type'] === kind);

  it('about an item, a build or a report name the span that is drawn of it', () => {
    const [build] = item.buildset.builds;
    const [report] = item.reports;
    const root = find('QueueItem')!;
    expect(itemLogFacts(item.uuid)).toEqual({
      trace_id: root.traceId,
      span_id: root.spanId,
      item: item.uuid,
    });
    const buildSpan = find('Build')!;
    expect(buildLogFacts({ uuid: build!.uuid, item: item.uuid, buildset: item.buildset.uuid })).toMatchObject(
      { trace_id: buildSpan.traceId, span_id: buildSpan.spanId },
    );
    const reportSpan = find('Report')!;
    expect(reportLogFacts({ uuid: report!.uuid, item: item.uuid })).toMatchObject({
      trace_id: reportSpan.traceId,
      span_id: reportSpan.spanId,
    });
  });

  it('about a decision are those of the item, or of the event before there is an item', () => {
    const event = derivedUuid('event');
    expect(decisionLogFacts({ item: item.uuid, event })).toEqual(itemLogFacts(item.uuid));
    expect(decisionLogFacts({ item: null, event })).toEqual(eventLogFacts(event));
    expect(decisionLogFacts({ item: null, event: null })).toEqual({});
  });

  it('about a result are those of the work it is of', () => {
    const [build] = item.buildset.builds;
    const event: PipelineEvent = {
      kind: 'build-started',
      uuid: derivedUuid('result'),
      item: item.uuid,
      buildset: item.buildset.uuid,
      build: build!.uuid,
      at: at(1),
      worker: 'executor-1',
    };
    expect(pipelineEventLogFacts(event)).toEqual({
      trace_id: traceIdOf(item.uuid),
      span_id: spanIdOf(build!.uuid),
      item: item.uuid,
      buildset: item.buildset.uuid,
      build: build!.uuid,
    });
  });

  it('about an event that is not what it says it is are its own uuid', () => {
    const uuid = derivedUuid('broken');
    const broken = [
      { kind: 'enqueue', uuid, trigger: null },
      { kind: 'build-result', uuid, item: 7 },
      { kind: 'merger-result', uuid },
      { kind: 'report-result', uuid, item: item.uuid, report: 'none' },
    ] as unknown as PipelineEvent[];
    for (const event of broken) expect(pipelineEventLogFacts(event)).toEqual({ event: uuid });
  });
});

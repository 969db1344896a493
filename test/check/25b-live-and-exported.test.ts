/**
 * Check 25b: while an item is in its queue the API shows its open spans, and those that are exported later are the same ones: the
 * same ids, names, parents and starts. What has ended is shown as it was sent already.
 */
import { expect } from 'vitest';
import { type OtlpTraceDocument, spansFromOtlp } from '../../src/cmd/client/spans-from-otlp.ts';
import type { SpanRecord } from '../../src/model/span.ts';
import { decodeJsonRequest, type SinkSpan } from '../fake/otlp-sink.ts';
import { classicLayout } from '../scenario/layouts.ts';
import { story } from '../scenario/story.ts';

story(
  'check 25b: open spans of a running item have the ids, parents, names and starts they are exported with',
  { layout: classicLayout() },
  async world => {
    for (const topic of ['A', 'B']) await world.propose(topic);
    for (const topic of ['A', 'B']) await world.approve(topic);
    world.fail('project-merge', 'A');
    await world.runs('project-merge: A');
    // The one behind waits for the merge job of the one ahead, and is tested again when that fails.
    const makers = new Map<string, SinkSpan['resource']>();
    const seen = [...(await shown('A')), ...(await shown('B'))];
    world.release(/project-merge: A$/);
    await world.runs('project-merge: B');
    seen.push(...(await shown('B')));
    const open = seen.filter(span => span.end === null);
    expect(open.map(kindOf)).toEqual(expect.arrayContaining(['QueueItem', 'BuildSet', 'Build', 'Wait']));

    world.free();
    await world.leaves('A', 'FAILURE');
    await world.leaves('B', 'SUCCESS');
    const roots = () =>
      world.sink.spans.filter(span => span.attributes['gatehouse.span.type'] === 'QueueItem');
    await world.observer.until('both traces to arrive', () => roots().length === 2);
    const exported = new Map(world.sink.spans.map(span => [`${span.traceId} ${span.spanId}`, span]));
    for (const [id, resource] of makers) expect(exported.get(id)?.resource).toEqual(resource);
    const components = new Set([...makers.values()].map(each => each['gatehouse.component']));
    expect(components).toEqual(new Set(['scheduler', 'merger']));
    for (const span of seen) {
      const sent = exported.get(`${span.traceId} ${span.spanId}`);
      expect(sent === undefined ? undefined : identityOf(sent)).toEqual({
        name: span.name,
        parent: span.parent,
        start: span.start,
        ...(span.end === null ? {} : { end: span.end }),
      });

      function identityOf({ name, parentSpanId, start, end }: SinkSpan) {
        const ended = span.end === null ? {} : { end: String(end) };
        return { name, parent: parentSpanId, start: String(start), ...ended };
      }
    }

    /** What the page and `gatehouse trace` draw at this moment. */
    async function shown(topic: string): Promise<readonly SpanRecord[]> {
      const uuid = world.item(topic)?.uuid;
      const answer = await world.api.get<OtlpTraceDocument>(`/api/tenant/tenant-one/item/${uuid}/trace`);
      for (const span of decodeJsonRequest(Buffer.from(JSON.stringify(answer))))
        makers.set(`${span.traceId} ${span.spanId}`, span.resource);
      return spansFromOtlp(answer);
    }
  },
);

function kindOf(span: SpanRecord): unknown {
  return span.attributes['gatehouse.span.type'];
}

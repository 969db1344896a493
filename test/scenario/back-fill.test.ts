/** `gatehouse trace export` against what the same service sent while it ran. */
import { expect } from 'vitest';
import { brokenChains } from '../e2e/event-chains.ts';
import { type OtlpSink, startOtlpSink } from '../fake/otlp-sink.ts';
import { type RawSpan, rawSpans } from '../fake/raw-spans.ts';
import { DEMO, dequeueByHand, playDemo, runCommand, settingsOf } from './demo-story.ts';
import { story } from './story.ts';
import type { World } from './world.ts';

story(
  'the history gives each span of an item once more, byte for byte as it was sent live',
  DEMO,
  async world => {
    await dequeueByHand(world);
    await playDemo(world);
    const live = itemsSpans(world);
    const attributes = (name: string) => world.sink.spans.map(span => span.attributes[name]);
    expect(attributes('gatehouse.result')).toEqual(
      expect.arrayContaining(['CANCELED', 'RETRY', 'SUPERSEDED']),
    );
    expect(attributes('gatehouse.span.type')).toEqual(expect.arrayContaining(['ScriptStep', 'AnsibleTask']));
    expect(attributes('gatehouse.link.continued_from').some(each => each !== undefined)).toBe(true);

    const config = await settingsOf(world);
    const exportTo = ({ url }: OtlpSink, ...args: readonly string[]) =>
      runCommand(['trace', 'export', '-c', config, '--endpoint', url, ...args]);
    const ofItems = new Set(live.map(({ key }) => key));
    /** All that is exported, when it is as much as was sent: what ended last is on its way into the history, one trace before another. */
    const exported = async () =>
      world.observer.until('the history to have it all', async () => {
        await using sink = await startOtlpSink();
        const said = await exportTo(sink, '--since', '1h');
        const spans = rawSpans(sink.requests.map(({ body }) => body));
        const has = keys(spans);
        const whole = [...live, ...tracesAround(world)].every(({ key }) => has.has(key));
        return whole ? { said, spans, broken: brokenChains(sink.spans) } : undefined;
      });
    const { said, spans: again, broken } = await exported();
    expect(said).toMatch(/^\d+ spans of \d items and \d+ other traces sent to http/);
    expect(broken).toEqual([]);
    const itemsAgain = again.filter(({ key }) => ofItems.has(key));
    expect(names(itemsAgain)).toEqual(names(live));
    expect(sorted(itemsAgain)).toEqual(sorted(live));

    const sentAround = tracesAround(world);
    const ofAround = keys(sentAround);
    const around = again.filter(({ key }) => ofAround.has(key));
    expect(around.map(({ name }) => name.split(' ')[0])).toEqual(
      expect.arrayContaining([
        ...['GitEvent', 'HostQuery', 'EventForward', 'TenantEvent', 'ManagementEvent'],
        ...['Reconfigure', 'MergerJob', 'ReadConfig'],
      ]),
    );
    expect(names(around)).toEqual(names(sentAround));
    expect(sorted(around)).toEqual(sorted(sentAround));

    await using sinkOfOne = await startOtlpSink();
    expect(await exportTo(sinkOfOne, '--since', '1h', '--pipeline', 'check')).toMatch(/^0 spans/);
    const [{ traceId = '' } = {}] = live;
    await exportTo(sinkOfOne, '--item', traceId);
    const one = rawSpans(sinkOfOne.requests.map(request => request.body));
    expect(one.length).toBeGreaterThan(10);
    const ofOne = keys(one);
    expect(sorted(one)).toEqual(sorted(again.filter(({ key }) => ofOne.has(key))));
    expect(brokenChains(sinkOfOne.spans)).toEqual([]);
    expect(new Set(sinkOfOne.spans.map(({ traceId: id }) => id)).size).toBeGreaterThan(2);
  },
);

/** Of events, requests and passes: all that belongs to no item and no command, except discarded events. */
function tracesAround(world: World): readonly RawSpan[] {
  const { spans } = world.sink;
  const roots = spans.filter(
    ({ parentSpanId, attributes, resource }) =>
      parentSpanId === null &&
      resource['service.name'] === 'gatehouse' &&
      !['QueueItem', 'JobExecution'].includes(String(attributes['gatehouse.span.type'])) &&
      attributes['gatehouse.event.outcome'] !== 'discarded',
  );
  const traces = new Set(roots.map(({ traceId }) => traceId));
  const wanted = new Set(
    spans.flatMap(({ traceId, spanId }) => (traces.has(traceId) ? [`${traceId} ${spanId}`] : [])),
  );
  return rawSpans(world.sink.requests.map(request => request.body)).filter(({ key }) => wanted.has(key));
}

/** What the story's service sent of its items; executors report on a stopped build after its item left, which no record holds. */
function itemsSpans(world: World): readonly RawSpan[] {
  const items = new Set(
    world.sink.spans
      .filter(
        ({ attributes }) =>
          attributes['gatehouse.span.type'] === 'QueueItem' && attributes['gatehouse.result'] !== 'DEQUEUED',
      )
      .map(root => root.traceId),
  );
  const ofItems = new Set(
    world.sink.spans
      .filter(span => items.has(String(span.attributes['gatehouse.item.id'])))
      .map(span => `${span.traceId} ${span.spanId}`),
  );
  return rawSpans(world.sink.requests.map(request => request.body)).filter(span => ofItems.has(span.key));
}

function keys(spans: readonly RawSpan[]): ReadonlySet<string> {
  return new Set(spans.map(span => span.key));
}

function names(spans: readonly RawSpan[]): readonly string[] {
  return spans.map(span => span.name).toSorted();
}

function sorted(spans: readonly RawSpan[]): readonly RawSpan[] {
  return spans.toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

/** `gatehouse trace export` against what the same service sent while it ran. */
import { expect } from 'vitest';
import { type OtlpSink, startOtlpSink } from '../fake/otlp-sink.ts';
import { type RawSpan, rawSpans } from '../fake/raw-spans.ts';
import { DEMO, runCommand, settingsOf, tellDemo } from './demo-story.ts';
import { story } from './story.ts';
import type { World } from './world.ts';

story(
  'the history gives each span of an item once more, byte for byte as it was sent live',
  DEMO,
  async world => {
    await tellDemo(world);
    const live = itemsSpans(world);
    const attributes = (name: string) => world.sink.spans.map(span => span.attributes[name]);
    expect(attributes('gatehouse.result')).toEqual(
      expect.arrayContaining(['CANCELED', 'RETRY', 'SUPERSEDED']),
    );
    expect(attributes('gatehouse.span')).toEqual(expect.arrayContaining(['ScriptStep', 'AnsibleTask']));
    expect(attributes('gatehouse.link.continued_from').some(each => each !== undefined)).toBe(true);

    await using sink = await startOtlpSink();
    const config = await settingsOf(world);
    const exportTo = ({ url }: OtlpSink, ...args: readonly string[]) =>
      runCommand(['trace', 'export', '-c', config, '--endpoint', url, ...args]);
    expect(await exportTo(sink, '--since', '1h')).toMatch(/^\d+ spans of 4 items sent to http/);
    const again = rawSpans(sink.requests.map(request => request.body));
    expect(names(again)).toEqual(names(live));
    expect(sorted(again)).toEqual(sorted(live));

    await using sinkOfOne = await startOtlpSink();
    expect(await exportTo(sinkOfOne, '--since', '1h', '--pipeline', 'check')).toMatch(/^0 spans/);
    const [{ traceId = '' } = {}] = live;
    await exportTo(sinkOfOne, '--item', traceId);
    const one = rawSpans(sinkOfOne.requests.map(request => request.body));
    expect(one.length).toBeGreaterThan(10);
    expect(sorted(one)).toEqual(sorted(again.filter(span => one.some(({ key }) => key === span.key))));
  },
);

/** What the story's service sent of its items. */
function itemsSpans(world: World): readonly RawSpan[] {
  const items = new Set(
    world.sink.spans
      .filter(span => span.attributes['gatehouse.span'] === 'QueueItem')
      .map(root => root.traceId),
  );
  const ofItems = new Set(
    world.sink.spans
      .filter(span => items.has(String(span.attributes['gatehouse.item.id'])))
      .map(span => `${span.traceId} ${span.spanId}`),
  );
  return rawSpans(world.sink.requests.map(request => request.body)).filter(span => ofItems.has(span.key));
}

function names(spans: readonly RawSpan[]): readonly string[] {
  return spans.map(span => span.name).toSorted();
}

function sorted(spans: readonly RawSpan[]): readonly RawSpan[] {
  return spans.toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

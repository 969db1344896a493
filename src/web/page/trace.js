/** OTLP/JSON as a tree of rows. Times are milliseconds after the beginning of the trace; an open span has `end` null. */
import { resultKind } from './format.js';

/** @returns {{start: number, rows: Array<object>}} rows depth first, siblings by start; `start` in epoch milliseconds. */
export function readTrace(otlp) {
  const spans = otlp.resourceSpans.flatMap(resource => resource.scopeSpans.flatMap(scope => scope.spans));
  if (spans.length === 0) return { start: 0, rows: [] };
  const zero = spans.map(span => BigInt(span.startTimeUnixNano)).reduce((a, b) => (a < b ? a : b));
  const at = nanoseconds => Number(BigInt(nanoseconds) - zero) / 1e6;
  const nodes = new Map(
    spans.map(span => {
      const attributes = Object.fromEntries(
        span.attributes.map(({ key, value }) => [key, attributeValue(value)]),
      );
      const node = {
        id: span.spanId,
        parent: span.parentSpanId ?? continuedSpan(span),
        name: span.name,
        start: at(span.startTimeUnixNano),
        end: span.endTimeUnixNano === undefined ? null : at(span.endTimeUnixNano),
        attributes,
        events: span.events.map(event => ({ name: event.name, at: at(event.timeUnixNano) })),
        failed: span.status?.code === 2,
        children: [],
      };
      return [node.id, { ...node, look: lookOf(node) }];
    }),
  );
  const roots = [];
  for (const node of nodes.values()) (nodes.get(node.parent)?.children ?? roots).push(node);
  const rows = [];
  const visit = (list, depth, ancestors) => {
    for (const node of list.sort((a, b) => a.start - b.start)) {
      rows.push({ ...node, depth, ancestors });
      visit(node.children, depth + 1, [...ancestors, node.id]);
    }
  };
  visit(roots, 0, []);
  return { start: Number(zero / 1_000_000n), rows };
}

/** A long job's work is a trace of its own; its root is drawn below the span of the item's trace that it continues. */
function continuedSpan({ links }) {
  const isFrom = ({ attributes }) =>
    attributes.some(
      ({ key, value }) => key === 'gatehouse.link.relation' && value.stringValue === 'continued_from',
    );
  return links?.find(isFrom)?.spanId ?? null;
}

function attributeValue(value) {
  if (value.arrayValue !== undefined) return value.arrayValue.values.map(attributeValue).join(', ');
  return value.stringValue ?? value.intValue ?? value.doubleValue ?? value.boolValue;
}

const PREPARING = new Set([
  'Merge',
  'RepoState',
  'MergerJob',
  'FetchRefs',
  'MergeChanges',
  'ReadConfig',
  'Layout',
  'JobGraph',
  'FreezeJob',
]);

/** Class of the bar: see the legend in waterfall.js. */
function lookOf({ name, attributes, end, failed }) {
  const kind = attributes['gatehouse.span'] ?? name.split(' ')[0];
  if (kind === 'QueueItem' || kind === 'BuildSet')
    return attributes['gatehouse.result'] === 'SUPERSEDED' ? 'frame is-retry' : 'frame';
  if (kind === 'Wait' || kind === 'Takeover' || kind === 'ExecutorQueue') return 'wait';
  if (PREPARING.has(kind)) return failed ? 'bad' : 'prepare';
  if (kind.includes('Report') || kind === 'HostMerge') return failed ? 'bad' : 'report';
  if (end === null) return 'run';
  const result = resultKind(attributes['gatehouse.result']);
  return result === 'open' ? (failed ? 'bad' : 'good') : result;
}

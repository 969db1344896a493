/** OTLP/JSON as a tree of rows. Times are milliseconds since the beginning of the trace; an open span has `end` null. */
import { resultKind } from './format.ts';

/** The parts of OTLP/JSON that are drawn. */
interface OtlpValue {
  readonly stringValue?: string;
  readonly intValue?: string | number;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
  readonly arrayValue?: { readonly values: readonly OtlpValue[] };
}

interface OtlpAttribute {
  readonly key: string;
  readonly value: OtlpValue;
}

interface OtlpSpan {
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano?: string;
  readonly attributes: readonly OtlpAttribute[];
  readonly events: readonly { readonly name: string; readonly timeUnixNano: string }[];
  readonly status?: { readonly code?: number };
  readonly links?: readonly { readonly spanId: string; readonly attributes: readonly OtlpAttribute[] }[];
}

/** Answer of `…/item/<uuid>/trace`. Times are texts of nanoseconds; a span without an end is open. */
export interface OtlpTrace {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

type Value = string | number | boolean | undefined;

/** Drawn as a bar. */
export interface Bar {
  /** Milliseconds since the begin of the trace, with a fraction. */
  readonly start: number;
  /** null: open. */
  readonly end: number | null;
}

interface TraceNode extends Bar {
  readonly id: string;
  readonly parent: string | null;
  readonly name: string;
  readonly attributes: { readonly [key: string]: Value };
  readonly failed: boolean;
  /** Class of its bar. */
  readonly look: string;
  readonly children: TraceNode[];
}

/** `depth` is 0 for a root. A row is hidden while one of its `ancestors`, which are span ids, is folded. */
export interface TraceNodeRow extends TraceNode {
  readonly depth: number;
  readonly ancestors: readonly string[];
}

/** Without spans: `start` 0 and no rows. */
export interface Trace {
  /** Milliseconds since the epoch. */
  readonly start: number;
  /** Depth first, siblings by start. */
  readonly rows: readonly TraceNodeRow[];
}

/** A span whose parent is not in the trace is a root. */
export function readTrace(otlp: OtlpTrace): Trace {
  const spans = otlp.resourceSpans.flatMap(resource => resource.scopeSpans.flatMap(scope => scope.spans));
  if (spans.length === 0) return { start: 0, rows: [] };
  const zero = spans.map(span => BigInt(span.startTimeUnixNano)).reduce((a, b) => (a < b ? a : b));
  const at = (nanoseconds: string) => Number(BigInt(nanoseconds) - zero) / 1e6;
  const nodes = new Map(
    spans.map((span): [string, TraceNode] => {
      const attributes: { readonly [key: string]: Value } = Object.fromEntries(
        span.attributes.map(({ key, value }) => [key, attributeValue(value)]),
      );
      const node = {
        id: span.spanId,
        parent: span.parentSpanId ?? continuedSpan(span),
        name: span.name,
        start: at(span.startTimeUnixNano),
        end: span.endTimeUnixNano === undefined ? null : at(span.endTimeUnixNano),
        attributes,
        failed: span.status?.code === 2,
      };
      return [node.id, { ...node, look: lookOf(node), children: [] }];
    }),
  );
  const roots: TraceNode[] = [];
  for (const node of nodes.values()) (nodes.get(node.parent ?? '')?.children ?? roots).push(node);
  const rows: TraceNodeRow[] = [];
  const visit = (list: TraceNode[], depth: number, ancestors: readonly string[]) => {
    for (const node of list.sort((a, b) => a.start - b.start)) {
      rows.push({ ...node, depth, ancestors });
      visit(node.children, depth + 1, [...ancestors, node.id]);
    }
  };
  visit(roots, 0, []);
  return { start: Number(zero / 1_000_000n), rows };
}

/** The work of a long job is a separate trace; its root is drawn below the span that it continues. */
function continuedSpan({ links }: OtlpSpan): string | null {
  const isFrom = ({ attributes }: { readonly attributes: readonly OtlpAttribute[] }) =>
    attributes.some(
      ({ key, value }) => key === 'gatehouse.link.relation' && value.stringValue === 'continued_from',
    );
  return links?.find(isFrom)?.spanId ?? null;
}

function attributeValue(value: OtlpValue): Value {
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

/** Kinds of spans without work. */
const WAITING: ReadonlySet<string> = new Set([
  'Wait',
  'Takeover',
  'RequirementWait',
  'SemaphoreWait',
  'RequestNodes',
  'ExecutorQueue',
  'Pause',
]);

/** Class of the bar: see the legend in waterfall.ts. */
function lookOf({
  name,
  attributes,
  end,
  failed,
}: Pick<TraceNode, 'name' | 'attributes' | 'end' | 'failed'>): string {
  const kind = String(attributes['gatehouse.span.type'] ?? name.split(' ')[0]);
  if (kind === 'QueueItem' || kind === 'BuildSet')
    return attributes['gatehouse.result'] === 'SUPERSEDED' ? 'frame is-retry' : 'frame';
  if (WAITING.has(kind)) return 'wait';
  if (PREPARING.has(kind)) return failed ? 'bad' : 'prepare';
  if (kind.includes('Report') || kind === 'HostMerge') return failed ? 'bad' : 'report';
  if (end === null) return 'run';
  const named = attributes['gatehouse.result'];
  const result = resultKind(named === undefined ? null : String(named));
  return result === 'open' ? (failed ? 'bad' : 'good') : result;
}

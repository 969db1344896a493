/**
 * What must hold for any set of spans that arrived, regardless of faults on the way: usable by every end-to-end test.
 *
 * The rules are written down again here, apart from the code that makes spans, so that a mistake there shows.
 */
import type { Attributes, SpanRecord } from '../../src/model/span.ts';

/** The part of an arrived span the checks look at. */
export interface CheckedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: { readonly [name: string]: unknown };
  readonly links: readonly {
    readonly traceId: string;
    readonly spanId: string;
    readonly attributes: { readonly [name: string]: unknown };
  }[];
  readonly status: { readonly code: number; readonly message: string };
}

export interface TraceCheckOptions {
  /** Longest stretch in nanoseconds of an item's life that no wait or work explains. Default 1 ms. */
  readonly toleranceNs?: bigint;
  /** Equal repeats are fine: an answer was lost on the way. Default false. */
  readonly repeatsAllowed?: boolean;
}

const FAILURES = new Set([
  'FAILURE',
  'POST_FAILURE',
  'MERGE_CONFLICT',
  'MERGE_FAILURE',
  'CONFIG_ERROR',
  'TIMED_OUT',
  'RETRY',
  'RETRY_LIMIT',
  'DISK_FULL',
  'NODE_FAILURE',
  'ERROR',
]);
/** Spans of these kinds must say how they ended. */
const HAVE_RESULT = new Set([
  'QueueItem',
  'BuildSet',
  'Build',
  'Merge',
  'RepoState',
  'Report',
  'HostReport',
  'HostMerge',
  'HostAnswer',
  'HostProgress',
]);
/** Kinds with another name where `span_names = zuul`. */
const IN_ZUUL: ReadonlyMap<string, RegExp> = new Map([
  ['RepoState', /^RefState$/],
  ['TenantEvent', /^TenantTriggerEventProcessing$/],
  ['InternalEvent', /^ZuulEvent$/],
  ['EventProcess', /^[A-Z][a-z]+EventProcessing$/],
]);
const WORK = new Set(['Merge', 'RepoState', 'Layout', 'JobGraph', 'Build', 'Report']);

/** One sentence per problem; empty when all is well. */
export function checkTraces(
  spans: readonly CheckedSpan[],
  options: TraceCheckOptions = {},
): readonly string[] {
  const problems: string[] = [];
  const unique = withoutRepeats(spans, options.repeatsAllowed === true, problems);
  const traces = Map.groupBy(unique, span => span.traceId);
  for (const [traceId, trace] of traces) {
    const say = (text: string) => problems.push(`trace ${traceId}: ${text}`);
    checkTree(trace, say);
    for (const span of trace) checkSpan(span, text => say(`${span.name} (${span.spanId}) ${text}`));
    const root = trace.find(span => span.parentSpanId === null);
    if (root !== undefined && kindOf(root) === 'QueueItem') {
      checkBuildSets(trace, say);
      checkTiling(root, trace, options.toleranceNs ?? 1_000_000n, say);
    }
  }
  return problems;
}

function withoutRepeats(
  spans: readonly CheckedSpan[],
  allowed: boolean,
  problems: string[],
): readonly CheckedSpan[] {
  const byId = new Map<string, CheckedSpan>();
  for (const span of spans) {
    const before = byId.get(span.spanId);
    if (before === undefined) byId.set(span.spanId, span);
    else if (contentOf(before) !== contentOf(span))
      problems.push(`span ${span.spanId} came twice and differs: ${before.name}, ${span.name}`);
    else if (!allowed) problems.push(`span ${span.spanId} (${span.name}) came twice`);
  }
  return [...byId.values()];
}

function contentOf(span: CheckedSpan): string {
  return JSON.stringify(span, (_name, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  );
}

type Say = (text: string) => void;

function kindOf(span: CheckedSpan): string {
  return String(span.attributes['gatehouse.span.type']);
}

function checkTree(trace: readonly CheckedSpan[], say: Say): void {
  const byId = new Map(trace.map(span => [span.spanId, span]));
  const roots = trace.filter(span => span.parentSpanId === null);
  if (roots.length !== 1) say(`has ${roots.length} roots: ${roots.map(span => span.name).join(', ')}`);
  for (const span of trace) {
    if (span.parentSpanId === null) continue;
    const parent = byId.get(span.parentSpanId);
    if (parent === undefined) say(`${span.name} (${span.spanId}) is an orphan: no span ${span.parentSpanId}`);
    // What a command asks for outlives the answer, and another process' clock is another one by up to a millisecond.
    else if (kindOf(parent) === 'CommandRequest') continue;
    else if (span.start < parent.start || span.end > parent.end) {
      say(
        `${span.name} (${span.spanId}) reaches outside its parent ${parent.name} by ${parent.start - span.start} / ${span.end - parent.end} ns`,
      );
    }
  }
}

/** Kinds whose spans the job names itself. */
const NAMED_BY_JOBS = new Set(['JobSpan', 'ScriptStep', 'AnsiblePlay', 'AnsibleTask']);

/** Backends index every name there ever was: none says which change, commit or id it is about. */
function unboundedPart({ name, attributes }: CheckedSpan): string | undefined {
  const [id] = /[0-9a-f]{8,}/.exec(name) ?? [];
  const words = new Set(name.split(/[\s,]+/));
  const change = [attributes['vcs.change.id']]
    .flat()
    .find(each => words.has(String(each)) && /\//.test(String(each)));
  return id ?? (change === undefined ? undefined : String(change));
}

function isNamedAfter(kind: string, name: string): boolean {
  // A job names its own spans as it likes.
  if (kind === 'JobSpan') return true;
  return kind.startsWith('Command') || name.startsWith(kind) || IN_ZUUL.get(kind)?.test(name) === true;
}

function checkSpan(span: CheckedSpan, say: Say): void {
  if (!/^[0-9a-f]{32}$/.test(span.traceId) || /^0+$/.test(span.traceId)) say('has a malformed trace id');
  if (!/^[0-9a-f]{16}$/.test(span.spanId) || /^0+$/.test(span.spanId)) say('has a malformed span id');
  if (span.end < span.start) say('ends before it starts');
  if (span.end === span.start) say('takes no time, which Jaeger takes for a fault');
  const kind = kindOf(span);
  if (!isNamedAfter(kind, span.name)) say(`is named other than its kind ${kind}`);
  const unbounded = NAMED_BY_JOBS.has(kind) ? undefined : unboundedPart(span);
  if (unbounded !== undefined) say(`has ${unbounded} in its name, which must be one of few`);
  const result = span.attributes['gatehouse.result'];
  if (HAVE_RESULT.has(kind) && result === undefined) say('does not say how it ended');
  const failed = typeof result === 'string' && FAILURES.has(result);
  if (failed !== (span.status.code === 2)) say(`has result ${String(result)} but status ${span.status.code}`);
  if (span.status.code === 1) say('has status Ok, which only people set');
  if (failed !== (span.attributes['error.type'] !== undefined))
    say(`has result ${String(result)} but error.type ${String(span.attributes['error.type'])}`);
  for (const link of span.links) {
    if (typeof link.attributes['gatehouse.link.relation'] !== 'string')
      say('has a link that does not say its relation');
  }
}

function checkBuildSets(trace: readonly CheckedSpan[], say: Say): void {
  const sets = trace
    .filter(span => kindOf(span) === 'BuildSet')
    .sort(
      (a, b) =>
        Number(a.attributes['gatehouse.buildset.number']) - Number(b.attributes['gatehouse.buildset.number']),
    );
  sets.forEach((span, index) => {
    if (span.attributes['gatehouse.buildset.number'] !== index + 1)
      say(
        `${span.name} has number ${String(span.attributes['gatehouse.buildset.number'])} in place ${index + 1}`,
      );
    if (index === 0) return;
    const relations = span.links.map(link => link.attributes['gatehouse.link.relation']);
    if (typeof span.attributes['gatehouse.cause.code'] !== 'string')
      say(`${span.name} does not say why it replaced the one before`);
    if (
      span.links.find(link => link.attributes['gatehouse.link.relation'] === 'previous')?.spanId !==
      sets[index - 1]?.spanId
    ) {
      say(`${span.name} is not linked to the buildset before`);
    }
    if (span.attributes['gatehouse.culprit.item.id'] !== undefined && !relations.includes('caused_by'))
      say(`${span.name} is not linked to its culprit`);
  });
}

/** Waits and work cover the item's life: every moment is explained, no two waits at once. */
function checkTiling(root: CheckedSpan, trace: readonly CheckedSpan[], toleranceNs: bigint, say: Say): void {
  const waits = trace.filter(span => kindOf(span) === 'Wait').sort(byStart);
  for (const [index, wait] of waits.entries()) {
    const next = waits[index + 1];
    if (next !== undefined && next.start < wait.end) say(`${wait.name} and ${next.name} overlap`);
  }
  let covered = root.start;
  let last = 'its begin';
  const reach = (until: bigint, next: string) => {
    const missing = until - covered;
    if (missing > toleranceNs)
      say(`${missing} ns of ${root.name} from ${last} to ${next} are explained by neither wait nor work`);
  };
  for (const span of [...waits, ...trace.filter(span => WORK.has(kindOf(span)))].sort(byStart)) {
    reach(span.start, described(span));
    if (span.end > covered) [covered, last] = [span.end, described(span)];
  }
  reach(root.end, 'its end');
}

const DESCRIBING = /^gatehouse\.(?:result|\w+\.outcome|wait\.state|span\.subject)$/;

/** E.g. `Merge (gatehouse.result MERGE_CONFLICT)`. */
function described({ name, attributes }: CheckedSpan): string {
  const stated = Object.entries(attributes).flatMap(([key, value]) =>
    DESCRIBING.test(key) ? [`${key} ${String(value)}`] : [],
  );
  return stated.length === 0 ? name : `${name} (${stated.join(', ')})`;
}

function byStart(a: CheckedSpan, b: CheckedSpan): number {
  return a.start < b.start ? -1 : a.start > b.start ? 1 : 0;
}

/** An ended record as if it had arrived. */
export function asArrived(span: SpanRecord): CheckedSpan {
  const { start, end, parent, status, ...rest } = span;
  return {
    ...rest,
    parentSpanId: parent,
    start: BigInt(start),
    end: BigInt(end ?? start),
    attributes: plain(span.attributes),
    status: status.code === 'error' ? { code: 2, message: status.message } : { code: 0, message: '' },
  };
}

function plain(attributes: Attributes): { readonly [name: string]: unknown } {
  return attributes;
}

/**
 * Where an item's time went, computed from nothing but the spans that arrived at a collector, apart from the code that explains
 * items: what the API says must be found there as well.
 *
 * Waits are spans of their own (`Wait window`); between them the item's own work goes on (`Merge`, `Build`, ...).
 */
import type { Explanation } from '../../src/explain/explain.ts';
import type { CheckedSpan } from './check-traces.ts';

/** `label`: `wait window`, `work merge`, `queue <build span>`, `ran <build span>`. */
export interface Piece {
  readonly from: bigint;
  readonly to: bigint;
  readonly label: string;
}

export interface Account {
  readonly duration: bigint;
  readonly waits: bigint;
  /** While no wait goes on. */
  readonly work: bigint;
  /** The same by state, e.g. `wait window`, `work merge`. */
  readonly totals: ReadonlyMap<string, bigint>;
  /** States that exclude one another and were there at once. */
  readonly overlaps: readonly string[];
  /** What the item waited for, one thing after the other. */
  readonly path: readonly Piece[];
}

/** What the item does in spans of a kind, as its states are called. */
const WORK: ReadonlyMap<string, string> = new Map([
  ['Merge', 'merge'],
  ['RepoState', 'repo-state'],
  ['Layout', 'configure'],
  ['JobGraph', 'configure'],
  ['Report', 'reporting'],
  ['Build', 'running'],
]);

/** @param trace the spans of one item. */
export function accountOf(trace: readonly CheckedSpan[]): Account {
  const root = trace.find(span => kindOf(span) === 'QueueItem');
  if (root === undefined) throw new Error('the trace has no QueueItem');
  const waits = ofKind(trace, 'Wait').toSorted(byStart);
  const sets = ofKind(trace, 'BuildSet');
  const work = trace.flatMap(span => {
    const state = WORK.get(kindOf(span));
    if (state === undefined) return [];
    // While it is tested a report on the side (`start`) is none of what the item waits for.
    const times = kindOf(span) === 'Report' ? outside(span, sets) : [span];
    return times.map(({ start, end }) => ({ state, start, end }));
  });
  const covered = union([...waits, ...work]);
  const waited = union(waits);
  return {
    duration: root.end - root.start,
    waits: waited,
    work: covered - waited,
    totals: totalsOf(waits, work),
    overlaps: overlapsOf(trace, waits),
    path: pathOf(trace, root, waits),
  };
}

interface Time {
  readonly start: bigint;
  readonly end: bigint;
}

interface Work extends Time {
  readonly state: string;
}

/**
 * Each moment counts once: a wait counts as a wait, regardless of other work meanwhile; and what the scheduler computes while others work for
 * the item already (`configure`) is no wait.
 */
function totalsOf(waits: readonly CheckedSpan[], work: readonly Work[]): ReadonlyMap<string, bigint> {
  const waited = Map.groupBy(waits, wait => `wait ${String(wait.attributes['gatehouse.wait.state'])}`);
  const others = work.filter(({ state }) => state !== 'configure');
  const counted = (one: Work) => outside(one, one.state === 'configure' ? [...waits, ...others] : waits);
  const worked = Map.groupBy(work, ({ state }) => `work ${state}`);
  return new Map([
    ...[...waited].map(([label, times]) => [label, union(times)] as const),
    ...[...worked].map(([label, times]) => [label, union(times.flatMap(counted))] as const),
  ]);
}

/** The parts of a stretch of time that none of `others` covers. */
function outside({ start, end }: Time, others: readonly Time[]): readonly Time[] {
  const parts: Time[] = [];
  let from = start;
  for (const other of others.toSorted(byStart)) {
    if (other.start >= end) break;
    if (from < other.start) parts.push({ start: from, end: other.start });
    from = max(from, other.end);
  }
  return from < end ? [...parts, { start: from, end }] : parts;
}

/** Two waits; or a wait for anything but an executor while an executor works for the item. */
function overlapsOf(trace: readonly CheckedSpan[], waits: readonly CheckedSpan[]): readonly string[] {
  const running = ofKind(trace, 'Build').flatMap(build => {
    const start = takenAt(trace, build);
    return start === undefined ? [] : [{ name: `${build.name} on its executor`, start, end: build.end }];
  });
  const found: string[] = [];
  for (const [index, wait] of waits.entries()) {
    for (const other of [...waits.slice(index + 1), ...running]) {
      if (other.start < wait.end && wait.start < other.end) found.push(`${wait.name} and ${other.name}`);
    }
  }
  return found;
}

/** Back from the end, always to what was there last before. */
function pathOf(
  trace: readonly CheckedSpan[],
  root: CheckedSpan,
  waits: readonly CheckedSpan[],
): readonly Piece[] {
  const pieces: Piece[] = [];
  let to = root.end;
  const goBack = (from: bigint, label: string) => {
    if (from < to) {
      pieces.unshift({ from, to, label });
      to = from;
    }
  };
  /** What the build looked at last had to wait for. */
  let cause: CheckedSpan | undefined;
  const hindrances = waits.filter(
    wait => !['executor', 'nodes'].includes(String(wait.attributes['gatehouse.wait.state'])),
  );
  const sets = ofKind(trace, 'BuildSet');
  while (to > root.start) {
    const wait = hindrances.find(span => span.start < to && span.end >= to);
    const set = sets.find(span => span.start < to && span.end >= to);
    const before = [...hindrances, ...sets].filter(span => span.end < to).map(span => span.end);
    const limit = before.reduce(max, set === undefined ? root.start : max(root.start, set.start));
    if (wait !== undefined || set === undefined) cause = undefined;
    if (wait !== undefined) goBack(wait.start, `wait ${String(wait.attributes['gatehouse.wait.state'])}`);
    else if (set === undefined) goBack(limit, 'work reporting');
    else {
      const work = trace.filter(span => span.parentSpanId === set.spanId);
      const last = cause ?? lastBefore(work, to, limit);
      cause = last === undefined ? undefined : causeOf(last, work);
      // Its result lay unread, while something else of the item may have gone on.
      const unread = last !== undefined && isLost(trace, last) ? 'wait executor-lost' : 'wait scheduler';
      goBack(max(last?.end ?? limit, limit), unread);
      if (last === undefined) continue;
      if (kindOf(last) === 'Build') goBack(max(takenAt(trace, last) ?? to, limit), `ran ${last.spanId}`);
      const doing = kindOf(last) === 'Build' ? `queue ${last.spanId}` : `work ${WORK.get(kindOf(last))}`;
      goBack(max(last.start, limit), doing);
      let begun = last.start;
      for (const [kind, words] of [
        ['SemaphoreWait', 'wait semaphore'],
        ['RequirementWait', 'wait requirement'],
      ] as const) {
        const wait = trace.find(
          span =>
            kindOf(span) === kind &&
            span.parentSpanId === set.spanId &&
            span.end === begun &&
            span.attributes['gatehouse.job'] === last.attributes['gatehouse.job'],
        );
        if (wait === undefined) continue;
        goBack(max(wait.start, limit), words);
        begun = wait.start;
      }
    }
  }
  return pieces;
}

/** The attempt before, or the job it depends on that ended last. */
function causeOf(build: CheckedSpan, work: readonly CheckedSpan[]): CheckedSpan | undefined {
  const retryOf = build.attributes['gatehouse.link.retry_of'];
  if (retryOf !== undefined) return work.find(span => span.spanId === retryOf);
  const names = build.attributes['gatehouse.depends_on'];
  const jobs: ReadonlySet<unknown> = new Set(Array.isArray(names) ? names : []);
  const needed = work.filter(span => kindOf(span) === 'Build' && jobs.has(span.attributes['gatehouse.job']));
  return lastBefore(needed, build.start + 1n, 0n);
}

/** The work that was there last before a moment; skipped builds are none. */
function lastBefore(work: readonly CheckedSpan[], moment: bigint, limit: bigint): CheckedSpan | undefined {
  const [last] = work
    .filter(span => WORK.has(kindOf(span)) && span.attributes['gatehouse.result'] !== 'SKIPPED')
    .filter(span => span.start < moment && span.end > limit)
    .sort((a, b) => {
      const [endOfA, endOfB] = [min(a.end, moment), min(b.end, moment)];
      if (endOfA !== endOfB) return endOfA < endOfB ? 1 : -1;
      return byStart(a, b) || (a.spanId < b.spanId ? -1 : 1);
    });
  return last;
}

/** When an executor took it. */
function takenAt(trace: readonly CheckedSpan[], build: CheckedSpan): bigint | undefined {
  return trace.find(
    span =>
      kindOf(span) === 'ExecutorQueue' &&
      span.parentSpanId === build.spanId &&
      span.attributes['gatehouse.executor_queue.outcome'] === 'taken',
  )?.end;
}

/** A build that was taken and whose executor reported nothing of it, although it was not stopped. */
function isLost(trace: readonly CheckedSpan[], build: CheckedSpan): boolean {
  return (
    kindOf(build) === 'Build' &&
    takenAt(trace, build) !== undefined &&
    build.attributes['gatehouse.result'] !== 'CANCELED' &&
    !trace.some(span => kindOf(span) === 'JobExecution' && span.parentSpanId === build.spanId)
  );
}

/** A critical path as the API returns it. */
export function piecesOf(path: Explanation['criticalPath']): readonly Piece[] {
  return path.map(({ from, to, kind, state, build }) => {
    const doing = state === 'running' ? 'ran' : 'queue';
    const label = build === undefined ? `${kind} ${state}` : `${doing} ${build.slice(0, 16)}`;
    return { from: BigInt(from), to: BigInt(to), label };
  });
}

/** What the API says of each state and the spans do not, or the other way round: the longest of these differences. */
export function largestDifference(explained: Explanation['totals'], found: Account['totals']): bigint {
  const api = new Map(explained.map(({ kind, state, duration }) => [`${kind} ${state}`, BigInt(duration)]));
  return [...api.keys(), ...found.keys()]
    .map(label => (api.get(label) ?? 0n) - (found.get(label) ?? 0n))
    .reduce((largest, difference) => max(largest, max(difference, -difference)), 0n);
}

/** How long two accounts of the same time say different things. */
export function disagreement(a: readonly Piece[], b: readonly Piece[]): bigint {
  let total = 0n;
  for (const piece of a) {
    let agreed = 0n;
    for (const other of b) {
      if (other.label !== piece.label) continue;
      const [from, to] = [max(piece.from, other.from), min(piece.to, other.to)];
      if (from < to) agreed += to - from;
    }
    total += piece.to - piece.from - agreed;
  }
  return total;
}

function kindOf(span: CheckedSpan): string {
  return String(span.attributes['gatehouse.span.type']);
}

function ofKind(trace: readonly CheckedSpan[], kind: string): readonly CheckedSpan[] {
  return trace.filter(span => kindOf(span) === kind);
}

function union(spans: readonly Time[]): bigint {
  let total = 0n;
  let covered = 0n;
  for (const { start, end } of spans.toSorted(byStart)) {
    const from = max(start, covered);
    if (from < end) total += end - from;
    covered = max(covered, end);
  }
  return total;
}

function byStart(a: Time, b: Time): number {
  return a.start < b.start ? -1 : a.start > b.start ? 1 : 0;
}

function max(a: bigint, b: bigint): bigint {
  return a < b ? b : a;
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

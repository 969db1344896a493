/** Spans of items as the real pipeline decides about them, in random histories with failures, meddling and late answers. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { explainItem } from '../../../src/explain/explain.ts';
import { laterOf, type Nanoseconds } from '../../../src/lib/clock.ts';
import { sum } from '../../../src/lib/time-window.ts';
import type { QueueItem } from '../../../src/model/queue-item.ts';
import type { SpanRecord } from '../../../src/model/span.ts';
import { endedSpans, itemSpans } from '../../../src/tracing/spans/item-spans.ts';
import { accountOf, disagreement, largestDifference, piecesOf } from '../../fake/account-of-spans.ts';
import { asArrived, checkTraces } from '../../fake/check-traces.ts';
import { Chaos, type Nature, type Step, stepArbitrary } from '../pipeline/chaos.ts';
import { job, type PipelineWorld, World } from '../pipeline/world.ts';

/** Nanoseconds a build is shown for, when its executor's clock says that it took no time. */
const SHORTEST = 1_000n;

const RESULTS = ['SUCCESS', 'FAILURE', 'RETRY', 'TIMED_OUT', 'SUCCESS', 'NODE_FAILURE', 'SUCCESS'] as const;

/** Unlucky now and then, in every way there is. */
function unluckyNature(pipeline: PipelineWorld): Nature {
  const common = { steps: [], worker: 'merger-1' };
  return {
    meddling: true,
    result: (_build, luck) => RESULTS[luck % RESULTS.length] ?? 'SUCCESS',
    merge: (merge, luck) => {
      const [change] = merge.item.changes;
      if (luck < 8)
        return { kind: 'conflict', change: change.key, project: change.project, files: ['x'], ...common };
      if (luck < 16) return { kind: 'failed', text: 'no route', retryable: luck % 2 === 0, ...common };
      return pipeline.mergeOutcome(merge);
    },
    report: luck => {
      if (luck < 8) return { kind: 'not-merged', text: 'refused' };
      if (luck < 14) return { kind: 'base-moved', text: 'raced' };
      return luck < 18 ? { kind: 'failed', text: 'host is down' } : undefined;
    },
  };
}

function playedPipeline(manager: 'dependent' | 'independent', steps: readonly Step[]): PipelineWorld {
  const world = new World();
  world.jobs('app', [
    job('unit', { attempts: 2 }),
    job('lint', { voting: false }),
    job('deploy', { dependencies: [{ name: 'unit', soft: false }] }),
  ]);
  const names = ['A', 'B', 'C', 'D', 'E'];
  const speaks = ['start', 'success', 'failure', 'merge-conflict', 'dequeue'] as const;
  const pipeline = world.pipeline('gate', { manager, speaks, window: { initial: 3, floor: 1 } });
  for (const name of names)
    world.change(name, { project: 'app', ...(name === 'D' ? { dependsOn: ['A'] } : {}) });
  const chaos = new Chaos(pipeline, unluckyNature(pipeline));
  chaos.play(steps);
  chaos.drain();
  pipeline.turn([]);
  return pipeline;
}

const acts = (...played: readonly (readonly [act: number, pick: number])[]): readonly Step[] =>
  played.map(([act, pick]) => ({ act, pick, later: false }));
/** A change enters, is merged and laid out, its build begins, and its executor vanishes seconds before that is noticed. */
const LOST_EXECUTOR = acts([0, 0], [22, 16], [40, 0], [45, 381], [98, 4]);
/** A change enters, is merged and laid out, is abandoned, and its executor vanished as soon as the build had begun. */
const LOST_AND_ABANDONED: readonly Step[] = [
  ...acts([0, 378], [22, 16], [40, 0]),
  { act: 90, pick: 538, later: true },
  ...acts([98, 578]),
];
/** A change enters, and another scheduler takes the pipeline over. */
const TAKEN_OVER = acts([0, 0], [99, 0]);

function play(manager: 'dependent' | 'independent', steps: readonly Step[]): Versions {
  return versionsOf(playedPipeline(manager, steps));
}

type Versions = ReadonlyMap<string, readonly QueueItem[]>;

/** Versions of each item, one per turn that changed it, the last one as it left. */
function versionsOf(pipeline: PipelineWorld): Versions {
  const versions = new Map<string, QueueItem[]>();
  for (const turn of Map.groupBy(pipeline.history, ({ input }) => input.now).values()) {
    const after = [
      ...(turn.at(-1)?.output.state.items.values() ?? []),
      ...turn.flatMap(({ output }) => output.left),
    ];
    for (const item of after) {
      const known = versions.get(item.uuid);
      if (known === undefined) versions.set(item.uuid, [item]);
      else if (known.at(-1) !== item) known.push(item);
    }
  }
  return versions;
}

interface Span {
  start: bigint;
  end: bigint;
}

/** By build: from when an executor said it took it to when it said it was done, was last heard of, or to the turn that cancelled it without knowing. */
function reportedByExecutors(pipeline: PipelineWorld): ReadonlyMap<string, Span> {
  const reported = new Map<string, Span>();
  const failed = new Map<string, Nanoseconds>();
  const forever = 1n << 80n;
  const lastHeardOf = ({ build, lastSign }: { readonly build: string; readonly lastSign?: Nanoseconds }) =>
    lastSign === undefined ? undefined : laterOf(lastSign, failed.get(build) ?? lastSign);
  for (const { input, output } of pipeline.history) {
    for (const event of input.events) {
      if (event.kind === 'build-started' && !reported.has(event.build))
        reported.set(event.build, { start: BigInt(event.at), end: forever });
      if (event.kind === 'build-result' && event.execution !== null && !reported.has(event.build))
        reported.set(event.build, { start: BigInt(event.execution.startedAt), end: forever });
      if (event.kind === 'build-failing' && !failed.has(event.build)) failed.set(event.build, event.at);
      const known = event.kind === 'build-result' ? reported.get(event.build) : undefined;
      if (known !== undefined && event.kind === 'build-result' && known.end === forever)
        known.end = later(known.start, BigInt(event.execution?.endedAt ?? lastHeardOf(event) ?? input.now));
    }
    for (const command of output.commands) {
      const known = command.kind === 'cancel-build' ? reported.get(command.build) : undefined;
      if (known?.end === forever) known.end = BigInt(input.now);
    }
  }
  return reported;
}

function later(a: bigint, b: bigint): bigint {
  return a < b ? b : a;
}

function unionOf(spans: readonly Span[]): bigint {
  let [total, covered] = [0n, 0n];
  for (const { start, end } of spans.toSorted((a, b) => (a.start < b.start ? -1 : 1))) {
    const from = start > covered ? start : covered;
    if (from < end) total += end - from;
    if (end > covered) covered = end;
  }
  return total;
}

function fold(versions: readonly QueueItem[]): readonly SpanRecord[] {
  return versions.flatMap((after, index) => endedSpans(versions[index - 1], after));
}

function sorted(spans: readonly SpanRecord[]): readonly SpanRecord[] {
  return [...spans].sort((a, b) => (a.spanId < b.spanId ? -1 : 1));
}

describe.each(['dependent', 'independent'] as const)('items of a real %s pipeline', manager => {
  const steps = fc.array(stepArbitrary, { maxLength: 100, size: 'max' });

  it('send every span once, as the finished record has it, and pass all checks', () => {
    let resets = 0;
    fc.assert(
      fc.property(steps, played => {
        for (const versions of play(manager, played).values()) {
          const last = versions.at(-1)!;
          resets += last.earlier.length;
          const spans = fold(versions);
          expect(sorted(spans)).toEqual(sorted(itemSpans(last).filter(span => span.end !== null)));
          if (last.phase.phase === 'left') expect(checkTraces(spans.map(asArrived))).toEqual([]);
        }
      }),
      { numRuns: 60, examples: [[LOST_AND_ABANDONED]] },
    );
    if (manager === 'dependent') expect(resets).toBeGreaterThan(10);
  });

  it('have the same times in their spans as in their explanation (check 23)', () => {
    fc.assert(
      fc.property(steps, played => {
        for (const versions of play(manager, played).values()) {
          const last = versions.at(-1)!;
          if (last.phase.phase !== 'left' || last.role !== 'live') continue;
          const account = accountOf(fold(versions).map(asArrived));
          const { criticalPath, totals } = explainItem(last, last.phase.at);
          expect(account.overlaps).toEqual([]);
          expect(account.duration - account.waits - account.work).toBeLessThanOrEqual(1_000_000n);
          expect(largestDifference(totals, account.totals)).toBeLessThanOrEqual(1_000_000n);
          expect(disagreement(piecesOf(criticalPath), account.path)).toBeLessThanOrEqual(1_000_000n);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('are explained to the nanosecond', () => {
    fc.assert(
      fc.property(steps, played => {
        for (const versions of play(manager, played).values()) {
          const last = versions.at(-1)!;
          const now = last.phase.phase === 'left' ? last.phase.at : last.enqueuedAt;
          const explanation = explainItem(last, now);
          expect(sum(explanation.criticalPath.map(link => link.duration))).toBe(explanation.duration);
          expect(sum(explanation.stretches.map(stretch => stretch.duration))).toBe(explanation.duration);
          expect(explanation.resets.length).toBeGreaterThanOrEqual(last.earlier.length);
        }
      }),
      { numRuns: 30 },
    );
  });

  it('name every scheduler that took their pipeline over while they were there', () => {
    let marks = 0;
    fc.assert(
      fc.property(steps, played => {
        const pipeline = playedPipeline(manager, played);
        for (const versions of versionsOf(pipeline).values()) {
          const last = versions.at(-1)!;
          const end = last.phase.phase === 'left' ? BigInt(last.phase.at) : BigInt(pipeline.world.now);
          const lived = pipeline.takeovers.filter(
            // One in the moment it left came after it.
            ({ at }) => BigInt(at) > BigInt(last.enqueuedAt) && BigInt(at) < end,
          );
          const listed = last.takeovers ?? [];
          expect(listed).toEqual(lived.slice(0, listed.length));
          expect(listed.length + (last.moreTakeovers?.count ?? 0)).toBe(lived.length);
          const spans = fold(versions).filter(span => span.attributes['gatehouse.span.type'] === 'Takeover');
          expect(spans.map(({ attributes }) => attributes['gatehouse.takeover.to'])).toEqual(
            listed.map(({ to }) => to),
          );
          marks += listed.length;
        }
      }),
      { numRuns: 60, examples: [[TAKEN_OVER]] },
    );
    expect(marks).toBeGreaterThan(0);
  });

  it('never run longer than executors reported, however long their results lay unread', () => {
    let ran = 0n;
    let missed = 0n;
    fc.assert(
      fc.property(steps, played => {
        const pipeline = playedPipeline(manager, played);
        const reported = reportedByExecutors(pipeline);
        for (const versions of versionsOf(pipeline).values()) {
          const last = versions.at(-1)!;
          const now = last.phase.phase === 'left' ? last.phase.at : pipeline.world.now;
          const { totals, builds } = explainItem(last, now);
          const running = BigInt(totals.find(({ state }) => state === 'running')?.duration ?? 0);
          const windows = builds.flatMap(({ uuid }) => reported.get(uuid) ?? []);
          expect(running).toBeLessThanOrEqual(unionOf(windows) + SHORTEST * BigInt(builds.length));
          for (const { uuid, ran: duration } of builds) {
            const window = reported.get(uuid);
            expect(BigInt(duration)).toBeLessThanOrEqual(
              window === undefined ? 0n : SHORTEST + window.end - window.start,
            );
          }
          ran += running;
          missed += BigInt(totals.find(({ state }) => state === 'executor-lost')?.duration ?? 0);
        }
      }),
      { numRuns: 60, examples: [[LOST_EXECUTOR]] },
    );
    expect(ran).toBeGreaterThan(0n);
    expect(missed).toBeGreaterThan(0n);
  });
});

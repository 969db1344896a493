/**
 * What an operator's act would cost: the turn itself decides on a copy of the state, and nothing of it is kept.
 *
 *     A B C D run, dequeue B   →   B left, C and D reset, with the machine time of the builds of all three
 *
 * The facts of changes are left out, so that nothing but the act has an effect: what hosts have said meanwhile is another turn's
 * affair. A first turn without the act takes what is due by time alone out of the count.
 */
import { type Nanoseconds, toMilliseconds } from '../lib/clock.ts';
import type { IdMaker, Uuid } from '../lib/ids.ts';
import { sum } from '../lib/time-window.ts';
import { changesText } from '../model/about-item.ts';
import type { ActCost, ItemCost, ItemEffect } from '../model/act-cost.ts';
import { type Build, isOpen, isRetried } from '../model/build.ts';
import type { ChangeKey } from '../model/change.ts';
import type { DecisionCode } from '../model/decision.ts';
import type { PipelineEvent } from '../model/event.ts';
import { haltOf } from '../model/halt.ts';
import { isFailed, jobStandings } from '../model/job-standing.ts';
import { runningTime } from '../model/lost-time.ts';
import type { Pipeline } from '../model/pipeline.ts';
import type { PipelineState } from '../model/pipeline-state.ts';
import type { TenantName } from '../model/project.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { decideTurn } from './decide-turn.ts';
import type { ChangeFacts, Command, TurnInput } from './turn.ts';

/** An act, and the pipeline as it is. */
interface PreviewInput {
  readonly now: Nanoseconds;
  readonly ids: IdMaker;
  readonly tenant: TenantName;
  readonly pipeline: Pipeline;
  readonly state: PipelineState;
  readonly event: PipelineEvent;
  /** Of a change that enters; absent: none does. */
  readonly changes?: ReadonlyMap<ChangeKey, ChangeFacts>;
}

/** What would follow. */
export interface Preview extends ActCost {
  /** It would enter a pipeline that supersedes these. */
  readonly supersedes: readonly Extract<Command, { readonly kind: 'supersede' }>[];
}

/** Codes of decisions by which nothing happens. */
const REFUSALS: ReadonlySet<DecisionCode> = new Set([
  'event-refused',
  'already-enqueued',
  'change-not-open',
  'drained',
  'pipeline-full',
]);

/** Pure; `input` is not changed. */
export function previewAct({ state, event, changes, ...rest }: PreviewInput): Preview {
  const { countedUnder } = state;
  const facts: Omit<TurnInput, 'state' | 'events'> = {
    ...rest,
    ...(countedUnder === null ? {} : { layoutVersion: countedUnder }),
    changes: new Map(),
    frozen: new Map(),
    mostHeld: 1,
  };
  const before = decideTurn({ ...facts, state, events: [] }).state;
  const { commands, decisions, ...output } = decideTurn({
    ...facts,
    changes: changes ?? facts.changes,
    state: before,
    events: [event],
  });
  const pairs = itemsOf(before).map(item => [item, output.state.items.get(item.uuid)] as const);
  const halts = haltedQueues(before, output.state);
  const rerun = event.kind === 'rerun' ? event.item : null;
  return {
    items: pairs.flatMap(([item, after]) => costOf(item, after, { ...rest, rerun, halts }) ?? []),
    jobs: pairs.flatMap(([item, after]) =>
      item.uuid === rerun && after !== undefined ? repeatedJobs(item, after) : [],
    ),
    refusals: decisions.filter(({ code }) => REFUSALS.has(code)).map(({ text }) => text),
    supersedes: commands.filter(command => command.kind === 'supersede'),
  };
}

/** Live ones, in the order of their queues. */
function itemsOf({ queues, items }: PipelineState): readonly QueueItem[] {
  return queues
    .flatMap(queue => queue.items.flatMap(uuid => items.get(uuid) ?? []))
    .filter(({ role }) => role === 'live');
}

/** What the act pauses, or lets go on, by key. */
function haltedQueues(before: PipelineState, after: PipelineState): ReadonlyMap<string, ItemEffect> {
  const isPaused = ({ halts = [] }: PipelineState, queue: string) =>
    haltOf(halts, queue, 'pause') !== undefined;
  return new Map(
    before.queues.flatMap(({ key, name }) => {
      const is = isPaused(after, name);
      return is === isPaused(before, name) ? [] : [[key, is ? 'paused' : 'resumed']];
    }),
  );
}

interface Act extends Pick<PreviewInput, 'now' | 'pipeline'> {
  /** The item whose jobs are asked to run again. */
  readonly rerun: Uuid | null;
  readonly halts: ReadonlyMap<string, ItemEffect>;
}

function costOf(item: QueueItem, after: QueueItem | undefined, act: Act): ItemCost | undefined {
  const { now, pipeline, rerun } = act;
  const effect = effectOn(item, after, act);
  if (effect === undefined) return undefined;
  const lost = discardedBuilds(item, after).filter(build => item.uuid !== rerun || !isFailed(build));
  return {
    item: item.uuid,
    pipeline: pipeline.name,
    change: changesText(item),
    effect,
    machineMs: toMilliseconds(sum(lost.map(build => runningTime(build, now)))),
  };
}

function effectOn(
  item: QueueItem,
  after: QueueItem | undefined,
  { rerun, halts }: Act,
): ItemEffect | undefined {
  if (after === undefined) return 'left';
  if (item.uuid === rerun && repeatedJobs(item, after).length > 0) return 'rerun';
  const hasEnded = after.buildset.stage.state === 'superseded' && item.buildset.stage.state !== 'superseded';
  if (after.buildset.uuid !== item.buildset.uuid || hasEnded) return 'reset';
  return hasJobsToStart(item) ? halts.get(item.queue) : undefined;
}

/** Also when they are not known yet. */
function hasJobsToStart({ buildset }: QueueItem): boolean {
  switch (buildset.stage.state) {
    case 'new':
    case 'merging':
    case 'merged':
    case 'superseded':
      return true;
    case 'repo-state':
    case 'running':
      return [...jobStandings(buildset).values()].some(
        ({ kind }) => kind === 'startable' || kind === 'waits',
      );
    case 'complete':
      return false;
  }
}

/** Their results counted, or would have. */
function discardedBuilds({ buildset }: QueueItem, after: QueueItem | undefined): readonly Build[] {
  const counted = buildset.builds.filter(counts);
  if (after === undefined) return counted;
  if (after.buildset.uuid === buildset.uuid) {
    const kept = new Set(after.buildset.builds.filter(counts).map(({ uuid }) => uuid));
    return counted.filter(({ uuid }) => !kept.has(uuid));
  }
  // A rerun takes results over, in builds of their own.
  const kept = new Set(after.buildset.builds.filter(build => !isOpen(build)).map(({ job }) => job));
  return counted.filter(({ job }) => !kept.has(job));
}

function counts(build: Build): boolean {
  return build.state.state !== 'cancelled' && !isRetried(build);
}

function repeatedJobs(item: QueueItem, after: QueueItem): readonly Build['job'][] {
  return [...new Set(discardedBuilds(item, after).map(({ job }) => job))];
}

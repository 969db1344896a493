/**
 * Turns a draft into operations of one multi-write: changed items, counters, acknowledged events, requests, cancels, report intents,
 * ended spans, history. Nothing of it takes effect until the fence commits it.
 */

import type { Nanoseconds } from '../../lib/clock.ts';
import { historyRowsCodec, pipelineCountersCodec, spansCodec } from '../../model/codec/records.ts';
import type { HistoryRow } from '../../model/history.ts';
import { storedQueues, storesSameQueues } from '../../model/own-queues.ts';
import type { PipelineState } from '../../model/pipeline-state.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import type { WholeTurn } from '../../pipeline/turn.ts';
import { outboxRows } from '../../store/outbox-rows.ts';
import { create, type Operation, remove, set } from '../../store/port.ts';
import { withoutHeldSpans } from '../../tracing/held-spans.ts';
import { isKept, type KeepRules } from '../../tracing/keep.ts';
import { endedSpans } from '../../tracing/spans/item-spans.ts';
import type { ChangedTurn } from './changed-items.ts';
import { decisionHistory } from './decision-rows.ts';
import type { PipelineContext } from './pipeline-context.ts';
import { encodeStoredItem, storableItem } from './stored-item.ts';

/** While `spans()` is undefined no span is written, and held-back ones are dropped. */
export type CommitContext = Pick<PipelineContext, 'nodes' | 'spans' | 'keep'>;

/** Operations for what the draft changed in the pipeline's own records; unchanged items cost nothing. */
export function stateOperations(
  before: PipelineState,
  draft: ChangedTurn,
  context: CommitContext,
): readonly Operation[] {
  const { nodes } = context;
  const operations: Operation[] = [];
  for (const item of draft.changed) {
    const path = nodes.item(item.uuid);
    const data = encodeStoredItem(item);
    operations.push(before.items.has(item.uuid) ? set(path, data) : create(path, data));
  }
  for (const { uuid } of draft.left) if (before.items.has(uuid)) operations.push(remove(nodes.item(uuid)));
  if (countersChanged(before, draft.state)) operations.push(set(nodes.state, countersOf(draft.state)));
  return operations;
}

/** Outbox rows for ended spans and for the history, usually one of each per turn. */
export function outboxOperations(
  before: PipelineState,
  draft: ChangedTurn,
  context: CommitContext,
  now: Nanoseconds,
): readonly Operation[] {
  const { nodes } = context;
  const options = context.spans();
  const left = judgedDepartures(draft.left, context);
  const changed = [...draft.changed, ...left];
  const spans =
    options === undefined
      ? []
      : changed.flatMap(item => endedSpans(before.items.get(item.uuid), item, options));
  return [
    ...outboxRows(nodes.spanOutbox, spans, spansCodec, now),
    ...outboxRows(nodes.historyOutbox, historyRows(left, draft), historyRowsCodec, now),
  ];
}

/** Items that leave, each with the choice whether its held-back spans are exported; while tracing is off they are dropped. */
export function judgedDepartures(
  left: readonly QueueItem[],
  { spans, keep }: Pick<CommitContext, 'spans' | 'keep'>,
): readonly QueueItem[] {
  return spans() === undefined ? left.map(withoutHeldSpans) : left.map(item => judged(item, keep()));
}

/** Chooses whether the spans of a held-back item are exported, and notes it in the item's record in the history. */
function judged(item: QueueItem, rules: KeepRules): QueueItem {
  return item.heldBack === true && isKept(item, rules) ? { ...item, kept: true } : withoutHeldSpans(item);
}

function historyRows(left: readonly QueueItem[], draft: WholeTurn): readonly HistoryRow[] {
  const items = left
    .filter(isWorthKeeping)
    .map((item): HistoryRow => ({ kind: 'item', item: storableItem(item) }));
  return [...items, ...decisionHistory(draft.decisions)];
}

/** A dependency item only held a place: the live item of its change has the history. */
function isWorthKeeping(item: QueueItem): boolean {
  return item.role === 'live';
}

function countersChanged(before: PipelineState, after: PipelineState): boolean {
  return (
    !storesSameQueues(before, after) ||
    before.consecutiveFailures !== after.consecutiveFailures ||
    before.disabled !== after.disabled ||
    before.holder !== after.holder ||
    before.takeovers !== after.takeovers ||
    before.testedStates !== after.testedStates ||
    before.provided !== after.provided ||
    before.halts !== after.halts
  );
}

/** The stored record of a pipeline, without its items and what they say. */
export function countersOf(state: PipelineState): Uint8Array {
  const { items: _, ...counters } = state;
  return pipelineCountersCodec.encode({ ...counters, queues: storedQueues(state) });
}

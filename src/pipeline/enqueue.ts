/**
 * Enqueuing a change, in the steps of the gating contract:
 *
 *   1 the change itself            enqueue-plan.ts: unknown, closed, other connection, requirements, already here
 *   2 its dependency graph         dependency-graph.ts: too many, a cycle, unresolved
 *   3 its queue, and whether the
 *     dependencies fit into it     enqueue-plan.ts: other queue, abandoned, not ready
 *   4 the pipeline's limit         enqueue-plan.ts
 *   5 dependencies ahead, the change, then the changes that wait for it behind (dependent pipelines)
 *
 * A refusal is a decision with its reason; where a person must do something about it, the change gets a report as well.
 * An independent pipeline tests each change on its own: its open dependencies come ahead of it as items that hold a place
 * and run nothing, a set of its own for every change.
 */
import type { Uuid } from '../lib/ids.ts';
import { type Change, type ChangeKey, changeText } from '../model/change.ts';
import type { DecisionCode } from '../model/decision.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { openDependencies } from './dependency-graph.ts';
import { ownRefusal, planFor, type Refusal, UNKNOWN_CHANGE } from './enqueue-plan.ts';
import { type EnqueueEvent, newItem } from './new-item.ts';
import { sayOnce, spokenAs } from './say.ts';
import type { ChangeFacts } from './turn.ts';
import type { QueueDraft, TurnDraft } from './turn-draft.ts';

export function enqueueEvent(draft: TurnDraft, event: EnqueueEvent): void {
  const { change } = event.trigger;
  const facts = draft.facts(change.key);
  const refusal = facts === undefined ? UNKNOWN_CHANGE : ownRefusal(draft, facts, change);
  if (facts === undefined || refusal !== null) {
    if (refusal !== null) refuse(draft, event, change, refusal, false);
    return;
  }
  const entered = enqueueChange(draft, event, facts, 'enqueued', false);
  if (draft.dependent) enqueueDependents(draft, event, entered);
}

/** @returns the changes that entered as live items; empty after a refusal. */
function enqueueChange(
  draft: TurnDraft,
  event: EnqueueEvent,
  facts: ChangeFacts,
  code: 'enqueued' | 'enqueued-behind',
  silent: boolean,
): readonly ChangeFacts[] {
  const plan = planFor(draft, facts);
  if (plan.kind === 'refused') {
    refuse(draft, event, facts.record.change, plan.refusal, silent);
    return [];
  }
  const role = draft.dependent ? 'live' : 'dependency';
  const queue = queueFor(draft, event, facts);
  for (const needed of plan.ahead) append(draft, queue, event, needed, role, aheadText(needed, facts, role));
  const why = code === 'enqueued' ? event.matched : `it depends on ${changeText(event.trigger.change)}`;
  append(
    draft,
    queue,
    event,
    facts,
    'live',
    `${changeText(facts.record.change)} entered queue ${queue.name}: ${why}`,
    code,
  );
  return draft.dependent ? [...plan.ahead, facts] : [facts];
}

/** Breadth first, so that those nearest to the change come first. */
function enqueueDependents(draft: TurnDraft, event: EnqueueEvent, entered: readonly ChangeFacts[]): void {
  const waiting = [...entered];
  for (let at = 0; at < waiting.length; at += 1) {
    for (const key of waiting[at]?.dependents ?? []) {
      const facts = draft.facts(key);
      if (facts === undefined || ownRefusal(draft, facts, facts.record.change) !== null) continue;
      if (!openDependencies(draft, facts).some(needed => needed === waiting[at])) continue;
      waiting.push(...enqueueChange(draft, event, facts, 'enqueued-behind', true));
    }
  }
}

/** A dependent pipeline has a queue per shared name; an independent one per change. */
function queueFor(draft: TurnDraft, event: EnqueueEvent, facts: ChangeFacts): QueueDraft {
  const shared = facts.queue ?? { key: facts.record.change.project, name: facts.record.change.project };
  const known = draft.dependent ? draft.queue(shared.key) : undefined;
  const window = draft.input.pipeline.window.initial;
  const key = draft.dependent ? shared.key : `${facts.record.change.key} ${event.uuid}`;
  return known ?? draft.addQueue({ key, name: shared.name, window, items: [] });
}

function append(
  draft: TurnDraft,
  queue: QueueDraft,
  event: EnqueueEvent,
  facts: ChangeFacts,
  role: QueueItem['role'],
  text: string,
  code: DecisionCode = 'enqueued',
): void {
  const needs = openDependencies(draft, facts).map(needed => needed.record.change.key);
  const neededItems = itemsOf(draft, queue, needs);
  const item = newItem(draft, {
    queue: queue.key,
    change: facts.record.change,
    role,
    needs,
    neededItems,
    event,
  });
  const { change } = facts.record;
  draft.decide(
    role === 'dependency' ? 'enqueued-as-dependency' : code,
    { change, item: item.uuid, event: event.trigger.uuid },
    text,
  );
  if (role === 'dependency') {
    draft.append(queue, item);
    return;
  }
  draft.append(queue, sayOnce(draft, item, 'enqueue', null));
  const { supercedes } = draft.input.pipeline;
  if (supercedes.length > 0)
    draft.command({ kind: 'supersede', pipelines: supercedes, change: change.key, item: item.uuid });
}

/** Those in the queue are the ones it is tested with; in an independent pipeline every change has a queue of its own. */
function itemsOf(draft: TurnDraft, queue: QueueDraft, changes: readonly ChangeKey[]): readonly Uuid[] {
  if (changes.length === 0) return [];
  return queue.items.filter(uuid => draft.item(uuid)?.changes.some(({ key }) => changes.includes(key)));
}

function aheadText(needed: ChangeFacts, facts: ChangeFacts, role: QueueItem['role']): string {
  const how = role === 'dependency' ? 'holds a place' : 'entered';
  return `${changeText(needed.record.change)} ${how} ahead of ${changeText(facts.record.change)}, which depends on it`;
}

function refuse(
  draft: TurnDraft,
  event: EnqueueEvent,
  change: Change,
  refusal: Refusal,
  silent: boolean,
): void {
  draft.decide(refusal.code, { change, item: null, event: event.trigger.uuid }, refusal.text);
  const action = refusal.report && !silent ? spokenAs(draft, 'failure') : null;
  if (action === null) return;
  const text = `This change cannot enter ${draft.input.pipeline.name}: ${refusal.text}.`;
  draft.command({
    kind: 'report',
    report: draft.input.ids.uuid(),
    item: null,
    action,
    result: 'FAILURE',
    change: change.key,
    text,
    awaited: false,
  });
}

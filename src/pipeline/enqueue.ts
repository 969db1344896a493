/**
 * Enqueuing a change, as `gating.md` numbers the steps:
 *
 *   1 the change itself            `ownRefusal`: unknown, closed, other connection, requirements, already here
 *   2 its dependency graph         dependency-graph.ts: too many, a cycle, unresolved
 *   3 its queue, and whether the
 *     dependencies fit into it     `missingAhead`: other queue, abandoned, not ready
 *   4 the pipeline's limit         `limitRefusal`
 *   5 dependencies ahead, the change, then the changes that wait for it behind (dependent pipelines)
 *
 * A refusal is a decision with its reason; where a person must do something about it, the change gets a report as well.
 * An independent pipeline tests each change on its own: its open dependencies come ahead of it as items that hold a place
 * and run nothing, a set of its own for every change.
 */

import { type Change, changeText, sameRevision } from '../model/change.ts';
import type { DecisionCode } from '../model/decision.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { replaces } from './departures.ts';
import { type DependencyGraph, dependencyGraph, openDependencies } from './dependency-graph.ts';
import { type EnqueueEvent, newItem } from './new-item.ts';
import { sayOnce, spokenAs } from './say.ts';
import type { ChangeFacts } from './turn.ts';
import type { QueueDraft, TurnDraft } from './turn-draft.ts';

interface Refusal {
  readonly code: DecisionCode;
  readonly text: string;
  /** Somebody has to do something: say it on the change. */
  readonly report: boolean;
}

type Plan =
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'go'; readonly ahead: readonly ChangeFacts[] };

export function enqueueEvent(draft: TurnDraft, event: EnqueueEvent): void {
  const { change } = event.trigger;
  const facts = draft.facts(change.key);
  const refusal =
    facts === undefined
      ? quiet('no-such-change', 'nothing is known of this change')
      : ownRefusal(draft, facts, change);
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

function ownRefusal(draft: TurnDraft, facts: ChangeFacts, change: Change): Refusal | null {
  const { record } = facts;
  if (!facts.connectionAllowed)
    return quiet(
      'other-connection',
      `the pipeline takes no changes of connection ${change.project.split('/')[0] ?? ''}`,
    );
  if (facts.queue === null)
    return quiet('project-not-in-pipeline', `${change.project} takes no part in this pipeline`);
  if (change.kind === 'change') {
    const closed = record.status === 'abandoned' || (draft.dependent && record.status === 'merged');
    if (closed || draft.landedChanges.has(change.key))
      return quiet('change-not-open', `the change is ${closed ? record.status : 'merged'}`);
    if (replaces(draft) && !sameRevision(record.change, change)) {
      return quiet(
        'event-refused',
        `the event is about ${changeText(change)}, which ${changeText(record.change)} has replaced`,
      );
    }
  }
  if (draft.liveItems(change.key).some(item => item.changes.some(live => sameRevision(live, change)))) {
    return quiet('already-enqueued', 'it is in this pipeline already');
  }
  return facts.requirements.met ? null : quiet('requirement-not-met', facts.requirements.text);
}

function planFor(draft: TurnDraft, facts: ChangeFacts): Plan {
  const graph = dependencyGraph(draft, facts);
  if (graph.kind !== 'resolved') return refused(graphRefusal(graph));
  const ahead: ChangeFacts[] = [];
  for (const needed of graph.ahead) {
    const refusal = draft.dependent ? misfit(draft, facts, needed) : abandoned(needed);
    if (refusal !== null) return refused(refusal);
    if (!draft.dependent || draft.liveItems(needed.record.change.key).length === 0) ahead.push(needed);
  }
  const limit = limitRefusal(draft, ahead.length + 1);
  return limit === null ? { kind: 'go', ahead } : refused(limit);
}

function graphRefusal(graph: Exclude<DependencyGraph, { readonly kind: 'resolved' }>): Refusal {
  switch (graph.kind) {
    case 'too-many':
      return quiet(
        'too-many-dependencies',
        `it has more than the ${graph.limit} dependencies that are allowed`,
      );
    case 'cycle':
      return loud(
        'dependency-cycle',
        `changes that depend on each other are not supported: ${graph.changes.join(', ')}`,
      );
    case 'unresolved':
      return loud(
        'dependency-unresolved',
        `nothing is known of what it depends on: ${graph.names.join(', ')}`,
      );
  }
}

/** A dependency that is not in the queue yet must be fit to go ahead of the change. */
function misfit(draft: TurnDraft, facts: ChangeFacts, needed: ChangeFacts): Refusal | null {
  const { change } = needed.record;
  const name = changeText(change);
  if (needed.queue === null || needed.queue.key !== facts.queue?.key) {
    return loud(
      'dependency-other-queue',
      `it depends on ${name}, which does not share a change queue with it`,
    );
  }
  if (needed.record.status === 'abandoned') return abandoned(needed);
  if (draft.liveItems(change.key).length > 0) return null;
  if (!needed.connectionAllowed)
    return quiet(
      'other-connection',
      `it depends on ${name}, and the pipeline takes no changes of its connection`,
    );
  return needed.requirements.met
    ? null
    : quiet('dependency-not-ready', `it depends on ${name}, which is not ready: ${needed.requirements.text}`);
}

function abandoned(needed: ChangeFacts): Refusal | null {
  if (needed.record.status !== 'abandoned') return null;
  return loud(
    'dependency-abandoned',
    `it depends on ${changeText(needed.record.change)}, which was abandoned`,
  );
}

function limitRefusal(draft: TurnDraft, adding: number): Refusal | null {
  const max = draft.input.maxChanges;
  if (max === undefined || draft.itemCount + adding <= max) return null;
  const text =
    adding > max
      ? `${adding} changes to enqueue greater than pipeline max of ${max}`
      : `${adding} more than the ${draft.itemCount} items here would exceed the pipeline max of ${max}`;
  return loud('pipeline-full', text);
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
  const item = newItem(draft, { queue: queue.key, change: facts.record.change, role, needs, event });
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
  if (supercedes.length > 0) draft.command({ kind: 'supersede', pipelines: supercedes, change: change.key });
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

function quiet(code: DecisionCode, text: string): Refusal {
  return { code, text, report: false };
}

function loud(code: DecisionCode, text: string): Refusal {
  return { code, text, report: true };
}

function refused(refusal: Refusal): Plan {
  return { kind: 'refused', refusal };
}

/**
 * Enqueuing a change, in the steps of the gating contract:
 *
 *   1 the change itself            enqueue-plan.ts: unknown, closed, other connection, requirements, already here
 *   2 its dependency graph         dependency-graph.ts: too many, a cycle, unresolved
 *   3 its queue, and whether the
 *     dependencies fit into it     enqueue-plan.ts: other queue, abandoned, not ready
 *   4 the pipeline's limit         enqueue-plan.ts
 *   5 dependencies ahead, the change, then the changes that wait for it behind, depth first (dependent pipelines)
 *
 * A refusal is a decision with its reason; where a person must do something about it, the change gets a report as well.
 * An independent pipeline tests each change on its own: its open dependencies come ahead of it as items that hold a place
 * and run nothing, a set of its own for every change. A serial or supercedent pipeline skips step 2.
 */
import { assertNever } from '../lib/assert-never.ts';
import { type Nanoseconds, toMilliseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import { type Change, type ChangeKey, changeText } from '../model/change.ts';
import type { DecisionCode } from '../model/decision.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { openDependencies } from './dependency-graph.ts';
import {
  type EnqueueRefusal,
  ignoresDependencies,
  ownRefusal,
  planFor,
  UNKNOWN_CHANGE,
} from './enqueue-plan.ts';
import { type EnqueueEvent, newItem } from './new-item.ts';
import { reportersInUse, reportOnce } from './request-report.ts';
import type { ChangeFacts } from './turn.ts';
import type { QueueDraft, TurnDraft } from './turn-draft.ts';

/** Enters the change of the event, with what it needs and what waits for it; or records the refusal. */
export function enqueueEvent(draft: TurnDraft, event: EnqueueEvent): void {
  const { change } = event.trigger;
  const facts = draft.facts(change.key);
  const refusal = facts === undefined ? UNKNOWN_CHANGE : ownRefusal(draft, facts, change);
  if (facts === undefined || refusal !== null) {
    if (refusal !== null) refuse(draft, event, change, refusal, false);
    return;
  }
  const found = planFor(draft, facts);
  if (found.kind === 'refused') refuse(draft, event, facts.record.change, found.refusal, false);
  else enterWith(draft, event, facts, found.ahead);
}

function enterWith(
  draft: TurnDraft,
  event: EnqueueEvent,
  facts: ChangeFacts,
  ahead: readonly ChangeFacts[],
): void {
  const { dependencies } = draft.manager;
  switch (dependencies) {
    case 'enter-ahead':
      enterTree(draft, event, facts, ahead);
      return;
    case 'hold-places':
    case 'ignored':
      enterAlone(draft, event, facts, ahead);
      return;
    default:
      assertNever(dependencies, 'treatment of dependencies');
  }
}

/** With place holders for its dependencies, where the manager wants them. */
function enterAlone(
  draft: TurnDraft,
  event: EnqueueEvent,
  facts: ChangeFacts,
  ahead: readonly ChangeFacts[],
): void {
  const queue = queueFor(draft, event, facts);
  for (const needed of ahead)
    append(draft, queue, event, needed, 'dependency', aheadText(needed, facts, 'dependency'));
  append(draft, queue, event, facts, 'live', enteredText(facts, queue, event.matched));
}

/** A change on its way in, and why. */
interface Entrant {
  readonly facts: ChangeFacts;
  /** The change it was found from, and how: that needs it, or it needs that; null: the event is about it. */
  readonly found: { readonly as: 'needed' | 'dependent'; readonly of: ChangeFacts } | null;
}

/** Changes that may enter, and have not yet. */
type Planned = Map<ChangeFacts, Entrant>;

/**
 * Depth first: a change, then everything that depends on it, then the next one. So the order is the same whichever change of a
 * tree the event is about, and a series stays together.
 *
 *     B and E need A, C needs B, D needs C:    A B C D E, whether A, C or E was approved last
 */
function enterTree(
  draft: TurnDraft,
  event: EnqueueEvent,
  root: ChangeFacts,
  ahead: readonly ChangeFacts[],
): void {
  const planned: Planned = new Map();
  const waiting = plan(planned, { facts: root, found: null }, ahead);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const missing = missingAhead(draft, event, next, planned);
    if (missing === null) continue;
    if (missing.length > 0) {
      waiting.push(...plan(planned, next, missing));
      continue;
    }
    const { facts } = next;
    enter(draft, event, planned.get(facts) ?? next);
    planned.delete(facts);
    for (const key of facts.dependents.toReversed()) {
      const dependent = draft.facts(key);
      if (dependent !== undefined && openDependencies(draft, dependent).includes(facts))
        waiting.push({ facts: dependent, found: { as: 'dependent', of: facts } });
    }
  }
}

/** What has to enter before it; null: it has a live item, or may not enter. */
function missingAhead(
  draft: TurnDraft,
  event: EnqueueEvent,
  { facts }: Entrant,
  planned: Planned,
): readonly ChangeFacts[] | null {
  const { change } = facts.record;
  if (!isAbsent(draft, facts)) return null;
  if (planned.has(facts)) return openDependencies(draft, facts).filter(needed => isAbsent(draft, needed));
  if (ownRefusal(draft, facts, change) !== null) return null;
  const own = planFor(draft, facts, planned.keys());
  if (own.kind === 'go') return own.ahead;
  refuse(draft, event, change, own.refusal, true);
  return null;
}

function isAbsent(draft: TurnDraft, { record }: ChangeFacts): boolean {
  return draft.liveItems(record.change.key).length === 0;
}

/** Plans the change and its dependencies. @returns them, the last one to enter first. */
function plan(planned: Planned, change: Entrant, ahead: readonly ChangeFacts[]): Entrant[] {
  const needed = ahead.map((facts): Entrant => ({ facts, found: { as: 'needed', of: change.facts } }));
  const all = [change, ...needed.reverse()];
  for (const each of all) if (!planned.has(each.facts)) planned.set(each.facts, each);
  return all;
}

function enter(draft: TurnDraft, event: EnqueueEvent, { facts, found }: Entrant): void {
  const queue = queueFor(draft, event, facts);
  if (found === null) append(draft, queue, event, facts, 'live', enteredText(facts, queue, event.matched));
  else if (found.as === 'needed')
    append(draft, queue, event, facts, 'live', aheadText(facts, found.of, 'live'));
  else {
    const why = `it depends on ${changeText(found.of.record.change)}`;
    append(draft, queue, event, facts, 'live', enteredText(facts, queue, why), 'enqueued-behind');
  }
}

function enteredText(facts: ChangeFacts, queue: QueueDraft, why: string): string {
  return `${changeText(facts.record.change)} entered queue ${queue.name}: ${why}`;
}

function queueFor(draft: TurnDraft, event: EnqueueEvent, { record, queue }: ChangeFacts): QueueDraft {
  const { change } = record;
  const shared = queue ?? { key: change.project, name: change.project };
  const { key, name } = draft.manager.queueFor({ change, shared, event: event.uuid });
  const window = draft.input.pipeline.window.initial;
  return draft.queue(key) ?? draft.addQueue({ key, name, window, items: [] });
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
  const needs = ignoresDependencies(draft)
    ? []
    : openDependencies(draft, facts).map(needed => needed.record.change.key);
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
  draft.append(queue, reportOnce(draft, item, 'enqueue', null));
  const { supercedes } = draft.input.pipeline;
  if (supercedes.length > 0)
    draft.command({ kind: 'supersede', pipelines: supercedes, change: change.key, item: item.uuid });
}

/** Items of these changes in its queue: it is tested with them. In an independent pipeline every change has a queue of its own. */
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
  refusal: EnqueueRefusal,
  silent: boolean,
): void {
  const { recheckAt } = refusal;
  const waits = !silent && recheckAt !== undefined && draft.postpone(event.uuid, recheckAt);
  const text = waits ? `${refusal.text}; checked again at ${timeText(recheckAt)}` : refusal.text;
  draft.decide(refusal.code, { change, item: null, event: event.trigger.uuid }, text);
  const action = refusal.report && !silent ? reportersInUse(draft, 'failure') : null;
  if (action === null) return;
  const message = `This change cannot enter ${draft.input.pipeline.name}: ${refusal.text}.`;
  draft.command({
    kind: 'report',
    report: draft.input.ids.uuid(),
    item: null,
    action,
    result: 'FAILURE',
    change: change.key,
    text: message,
    awaited: false,
  });
}

function timeText(time: Nanoseconds): string {
  return new Date(toMilliseconds(time)).toISOString();
}

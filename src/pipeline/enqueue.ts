/**
 * Enqueuing a change, in the steps of the gating contract:
 *
 *   1 the change itself            enqueue-plan.ts: unknown, closed, other connection, requirements, already here
 *   2 its dependency graph         dependency-graph.ts: too many, a cycle that its queue does not allow, unresolved
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
import { aboutItem } from '../model/about-item.ts';
import type { Change, ChangeKey } from '../model/change.ts';
import type { DecisionCode } from '../model/decision.ts';
import { haltOf, haltText } from '../model/halt.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { type ChangeGroup, groupText } from './change-group.ts';
import { openDependencies, openDependenciesOf } from './dependency-graph.ts';
import {
  type EnqueuePlan,
  type EnqueueRefusal,
  ignoresDependencies,
  ownRefusal,
  planFor,
  UNKNOWN_CHANGE,
} from './enqueue-plan.ts';
import { type EnqueueEvent, type Entry, newItem } from './new-item.ts';
import type { QueueDraft } from './queue-draft.ts';
import { reportersInUse, reportOnce } from './request-report.ts';
import type { ChangeFacts } from './turn.ts';
import type { TurnDraft } from './turn-draft.ts';

/** Enters the change of the event, with what it needs and what waits for it; or records the refusal. */
export function enqueueEvent(draft: TurnDraft, event: EnqueueEvent): void {
  const { change } = event.trigger;
  const facts = draft.facts(change.key);
  const byHand = event.request === undefined ? undefined : { by: event.request.by, change: change.key };
  const refusal = facts === undefined ? UNKNOWN_CHANGE : ownRefusal(draft, facts, change, byHand);
  if (facts === undefined || refusal !== null) {
    if (refusal !== null) refuse(draft, event, change, refusal, false);
    return;
  }
  if (isHeld(draft, event, facts)) return;
  const found = planFor(draft, facts);
  if (found.kind === 'refused') refuse(draft, event, facts.record.change, found.refusal, false);
  else {
    const entry: Entry = byHand === undefined ? event : { ...event, byHand };
    enterWith(draft, entry, { group: found.own, found: null }, found.ahead);
  }
}

/** Its queue is drained: the event waits, or is one too many. */
function isHeld(draft: TurnDraft, event: EnqueueEvent, { record, queue }: ChangeFacts): boolean {
  const { change } = record;
  const halt = haltOf(draft.halts, queue?.name ?? change.project, 'drain');
  if (halt === undefined) return false;
  const isHere = draft.hold(event.uuid);
  const text = isHere
    ? `it waits until ${halt.queue ?? draft.input.pipeline.name} takes changes again: ${haltText(halt)}`
    : `too many changes wait for a queue that is drained: ${haltText(halt)}`;
  const about = { change, item: null, event: event.trigger.uuid };
  draft.decide(isHere ? 'drained' : 'pipeline-full', about, text);
  return true;
}

/**
 * Enters changes again whose item has left because other changes belong to it now. Those that may not enter are out of the pipeline
 * without an event of their own, so that is reported in any case.
 *
 * @param item as it left.
 */
export function enterAgain(draft: TurnDraft, item: QueueItem): void {
  for (const { key } of item.changes) {
    const facts = draft.facts(key);
    if (facts === undefined || facts.record.status !== 'open' || draft.liveItems(key).length > 0) continue;
    const entry = entryOf(draft, item);
    const own = ownRefusal(draft, facts, facts.record.change, item.origin.byHand);
    const found: EnqueuePlan = own === null ? planFor(draft, facts) : { kind: 'refused', refusal: own };
    if (found.kind === 'go') enterWith(draft, entry, { group: found.own, found: null }, found.ahead);
    else {
      const refusal = { ...found.refusal, report: true };
      refuse(draft, entry, facts.record.change, refusal, false, 'cannot stay in');
    }
  }
}

/** The event that the item came with, as far as the item has it. */
function entryOf(draft: TurnDraft, { origin, sampled, traceState }: QueueItem): Entry {
  const { event, eventType, eventSpan, tenantSpan, receivedAt, connection, heldSpans, byHand } = origin;
  return {
    uuid: draft.input.ids.uuid(),
    matched: 'other changes can only land together with it now',
    tenantSpan,
    ...(byHand === undefined ? {} : { byHand }),
    trigger: {
      ...{ uuid: event, connection, type: eventType, receivedAt, sampled, span: eventSpan },
      ...(traceState === undefined ? {} : { traceState }),
      ...(heldSpans === undefined ? {} : { heldSpans }),
    },
  };
}

function enterWith(draft: TurnDraft, event: Entry, root: Entrant, ahead: readonly ChangeGroup[]): void {
  const { dependencies } = draft.manager;
  switch (dependencies) {
    case 'enter-ahead':
      enterTree(draft, event, root, ahead);
      return;
    case 'hold-places':
    case 'ignored':
      enterAlone(draft, event, root.group, ahead);
      return;
    default:
      assertNever(dependencies, 'treatment of dependencies');
  }
}

/** With place holders for its dependencies, where the manager wants them. */
function enterAlone(draft: TurnDraft, event: Entry, group: ChangeGroup, ahead: readonly ChangeGroup[]): void {
  const queue = queueFor(draft, event, group);
  for (const needed of ahead)
    append(draft, queue, event, needed, 'dependency', aheadText(needed, group, 'dependency'));
  append(draft, queue, event, group, 'live', enteredText(group, queue, event.matched));
}

/** What is on its way in as one item, and why. */
interface Entrant {
  readonly group: ChangeGroup;
  /** The item it was found from, and how: that needs it, or it needs that; null: the event is about it. */
  readonly found: { readonly as: 'needed' | 'dependent'; readonly of: ChangeGroup } | null;
}

/** Items that may enter, and have not yet, by each of their changes. */
type Planned = Map<ChangeFacts, Entrant>;

/**
 * Depth first: a change, then everything that depends on it, then the next one. So the order is the same whichever change of a
 * tree the event is about, and a series stays together.
 *
 *     B and E need A, C needs B, D needs C:    A B C D E, whether A, C or E was approved last
 */
function enterTree(draft: TurnDraft, event: Entry, root: Entrant, ahead: readonly ChangeGroup[]): void {
  const planned: Planned = new Map();
  const waiting = plan(planned, root, ahead);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const missing = missingAhead(draft, event, next, planned);
    if (missing === null) continue;
    if (missing.length > 0) {
      waiting.push(...missing);
      continue;
    }
    const entrant = planned.get(next.group[0]) ?? next;
    enter(draft, event, entrant);
    for (const facts of entrant.group) planned.delete(facts);
    waiting.push(...dependentsOf(draft, entrant.group));
  }
}

/** The first one comes last, so that it is the next. */
function dependentsOf(draft: TurnDraft, group: ChangeGroup): readonly Entrant[] {
  const keys = new Set(group.flatMap(({ dependents }) => dependents));
  return [...keys].toReversed().flatMap((key): readonly Entrant[] => {
    const dependent = draft.facts(key);
    if (dependent === undefined || group.includes(dependent)) return [];
    if (!openDependencies(draft, dependent).some(needed => group.includes(needed))) return [];
    return [{ group: [dependent], found: { as: 'dependent', of: group } }];
  });
}

/** What is next before it, the last one first; empty: it may enter now. Null: it has a live item, or may not enter. */
function missingAhead(
  draft: TurnDraft,
  event: Entry,
  entrant: Entrant,
  planned: Planned,
): readonly Entrant[] | null {
  const [facts] = entrant.group;
  const { change } = facts.record;
  if (!isAbsent(draft, facts)) return null;
  const known = planned.get(facts);
  if (known !== undefined) {
    const needed = openDependenciesOf(draft, known.group).filter(each => isAbsent(draft, each));
    const groups = new Set(needed.map(each => planned.get(each)?.group ?? ([each] as const)));
    return groups.size === 0 ? [] : plan(planned, known, [...groups]);
  }
  if (ownRefusal(draft, facts, change) !== null) return null;
  const own = planFor(draft, facts, firstOf(planned));
  if (own.kind === 'go') {
    const whole = { ...entrant, group: own.own };
    if (own.ahead.length > 0 || whole.group.length > 1) return plan(planned, whole, own.ahead);
    return [];
  }
  refuse(draft, event, change, own.refusal, true);
  return null;
}

function firstOf(planned: Planned): readonly ChangeFacts[] {
  return [...new Set(planned.values())].map(({ group: [first] }) => first);
}

function isAbsent(draft: TurnDraft, { record }: ChangeFacts): boolean {
  return draft.liveItems(record.change.key).length === 0;
}

/** Plans the item and its dependencies. @returns them, the last one to enter first. */
function plan(planned: Planned, entrant: Entrant, ahead: readonly ChangeGroup[]): Entrant[] {
  const needed = ahead.map((group): Entrant => ({ group, found: { as: 'needed', of: entrant.group } }));
  const all = [entrant, ...needed.reverse()];
  for (const each of all) for (const facts of each.group) if (!planned.has(facts)) planned.set(facts, each);
  return all;
}

function enter(draft: TurnDraft, event: Entry, { group, found }: Entrant): void {
  const queue = queueFor(draft, event, group);
  if (found === null) append(draft, queue, event, group, 'live', enteredText(group, queue, event.matched));
  else if (found.as === 'needed')
    append(draft, queue, event, group, 'live', aheadText(group, found.of, 'live'));
  else {
    const why = `it depends on ${groupText(found.of)}`;
    append(draft, queue, event, group, 'live', enteredText(group, queue, why), 'enqueued-behind');
  }
}

function enteredText(group: ChangeGroup, queue: QueueDraft, why: string): string {
  return `${groupText(group)} entered queue ${queue.name}: ${why}`;
}

function queueFor(draft: TurnDraft, event: Entry, [{ record, queue }]: ChangeGroup): QueueDraft {
  const { change } = record;
  const shared = queue ?? { key: change.project, name: change.project };
  const { key, name } = draft.manager.queueFor({ change, shared, event: event.uuid });
  const window = draft.input.pipeline.window.initial;
  return draft.queues.get(key) ?? draft.queues.add(key, name, window);
}

function append(
  draft: TurnDraft,
  queue: QueueDraft,
  event: Entry,
  group: ChangeGroup,
  role: QueueItem['role'],
  text: string,
  code: DecisionCode = 'enqueued',
): void {
  const needs = ignoresDependencies(draft)
    ? []
    : openDependenciesOf(draft, group).map(needed => needed.record.change.key);
  const [lead, ...partners] = group;
  const item = newItem(draft, {
    queue,
    changes: [lead.record.change, ...partners.map(({ record }) => record.change)],
    role,
    needs,
    neededItems: itemsOf(draft, queue, needs),
    event,
  });
  draft.decide(
    role === 'dependency' ? 'enqueued-as-dependency' : code,
    aboutItem(item, event.trigger.uuid),
    text,
  );
  if (role === 'dependency') {
    draft.append(queue, item);
    return;
  }
  draft.append(queue, reportOnce(draft, item, 'enqueue', null));
  const { supercedes } = draft.input.pipeline;
  if (supercedes.length === 0) return;
  for (const { key } of item.changes)
    draft.command({ kind: 'supersede', pipelines: supercedes, change: key, item: item.uuid });
}

/** Items of these changes in its queue: it is tested with them. In an independent pipeline every change has a queue of its own. */
function itemsOf(draft: TurnDraft, queue: QueueDraft, changes: readonly ChangeKey[]): readonly Uuid[] {
  if (changes.length === 0) return [];
  return queue.items.filter(uuid => draft.item(uuid)?.changes.some(({ key }) => changes.includes(key)));
}

function aheadText(needed: ChangeGroup, group: ChangeGroup, role: QueueItem['role']): string {
  const how = role === 'dependency' ? 'holds a place' : 'entered';
  return `${groupText(needed)} ${how} ahead of ${groupText(group)}, which depends on it`;
}

function refuse(
  draft: TurnDraft,
  event: Entry,
  change: Change,
  refusal: EnqueueRefusal,
  silent: boolean,
  verb: 'cannot enter' | 'cannot stay in' = 'cannot enter',
): void {
  const { recheckAt } = refusal;
  const waits = !silent && recheckAt !== undefined && draft.postpone(event.uuid, recheckAt);
  const text = waits ? `${refusal.text}; checked again at ${timeText(recheckAt)}` : refusal.text;
  draft.decide(refusal.code, { change, item: null, event: event.trigger.uuid }, text);
  const action = refusal.report && !silent ? reportersInUse(draft, 'failure') : null;
  if (action === null) return;
  const message = `This change ${verb} ${draft.input.pipeline.name}: ${refusal.text}.`;
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

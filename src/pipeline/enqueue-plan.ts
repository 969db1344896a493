/**
 * Whether a change may enter, and what must go ahead of it: steps 1 to 4 of `enqueue.ts`. Every refusal has a code for the
 * decision and a sentence with the facts. A reported one is also written on the change, because its author has to act.
 */
import type { Nanoseconds } from '../lib/clock.ts';
import { type Change, changeText, sameRevision } from '../model/change.ts';
import type { DecisionCode } from '../model/decision.ts';
import { projectIdOf } from '../model/project.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { type ChangeGroup, groupText } from './change-group.ts';
import { replaces } from './departures.ts';
import { type DependencyGraph, dependencyGraph, obstacleText, unknownText } from './dependency-graph.ts';
import type { ChangeFacts } from './turn.ts';
import type { TurnDraft } from './turn-draft.ts';

/** Why a change does not enter: a decision always, a report where `report` says so. */
export interface EnqueueRefusal {
  readonly code: DecisionCode;
  readonly text: string;
  /** The author has to act: report it on the change. */
  readonly report: boolean;
  /** When the verdict may change by time alone. */
  readonly recheckAt?: Nanoseconds;
}

/**
 * `own`: the change, with those that it can only enter together with. `ahead`: the dependencies to enter first, oldest first; empty when
 * all are there, or the manager ignores them.
 */
export type EnqueuePlan =
  | { readonly kind: 'refused'; readonly refusal: EnqueueRefusal }
  | { readonly kind: 'go'; readonly own: ChangeGroup; readonly ahead: readonly ChangeGroup[] };

/** For an event about a change that is not in the change cache (any more). */
export const UNKNOWN_CHANGE: EnqueueRefusal = refusal('no-such-change', 'the change is unknown');

/**
 * Reasons that lie in the change itself.
 *
 * @param change as in the event, perhaps an old revision.
 * @param byHand of the item: requirements do not count for that change. What the host would not land does not enter all the same.
 */
export function ownRefusal(
  draft: TurnDraft,
  facts: ChangeFacts,
  change: Change,
  byHand?: QueueItem['origin']['byHand'],
): EnqueueRefusal | null {
  const { record } = facts;
  if (!facts.connectionAllowed)
    return refusal(
      'other-connection',
      `the pipeline takes no changes of connection ${projectIdOf(change.project).connection}`,
    );
  if (facts.queue === null)
    return refusal('project-not-in-pipeline', `${change.project} takes no part in this pipeline`);
  if (change.kind === 'change') {
    const closed =
      record.status === 'abandoned' || (record.status === 'merged' && !draft.manager.takesMerged);
    if (closed || draft.landedChanges.has(change.key))
      return refusal('change-not-open', `the change is ${closed ? record.status : 'merged'}`);
    if (replaces(draft) && !sameRevision(record.change, change)) {
      return refusal(
        'event-refused',
        `the event is about ${changeText(change)}, which ${changeText(record.change)} has replaced`,
      );
    }
  }
  if (draft.liveItems(change.key).some(item => item.changes.some(live => sameRevision(live, change)))) {
    return refusal('already-enqueued', 'it is in this pipeline already');
  }
  const { met, text, recheckAt } = facts.requirements;
  if (met || byHand?.change === change.key)
    return facts.landing?.met === false ? refusal('cannot-land', facts.landing.text) : null;
  const unmet = refusal('requirement-not-met', text);
  return recheckAt === undefined ? unmet : { ...unmet, recheckAt };
}

/**
 * What enters with the change and ahead of it, oldest first, or why it cannot.
 *
 * @param planned first changes of other items that enter anyway.
 */
export function planFor(
  draft: TurnDraft,
  facts: ChangeFacts,
  planned: Iterable<ChangeFacts> = [],
): EnqueuePlan {
  const graph: DependencyGraph = ignoresDependencies(draft)
    ? { kind: 'resolved', own: [facts], ahead: [] }
    : dependencyGraph(draft, facts);
  if (graph.kind !== 'resolved') return refused(graphRefusal(graph));
  const { own } = graph;
  const ahead = graph.ahead.filter(group => !group.every(needed => isAhead(draft, needed)));
  const partners = own.filter(other => other !== facts);
  for (const needed of [...graph.ahead.flat(), ...partners]) {
    const problem = misfit(draft, facts, needed);
    if (problem !== null) return refused(problem);
  }
  const torn = ahead.find(group => group.some(needed => isAhead(draft, needed)));
  if (torn !== undefined) return refused(isTorn(draft, torn));
  const entering = [...ahead, own].map(([lead]) => lead);
  const elsewhere = partners.find(partner => isAhead(draft, partner));
  if (elsewhere !== undefined) return refused(isInOtherItem(elsewhere));
  const limit = limitRefusal(draft, new Set([...planned, ...entering]).size);
  return limit === null ? { kind: 'go', own, ahead } : refused(limit);
}

/** Whether the pipeline's manager treats every change as if it depended on none (serial, supercedent). */
export function ignoresDependencies({ manager }: TurnDraft): boolean {
  return manager.dependencies === 'ignored';
}

function graphRefusal(graph: Exclude<DependencyGraph, { readonly kind: 'resolved' }>): EnqueueRefusal {
  switch (graph.kind) {
    case 'too-many':
      return refusal(
        'too-many-dependencies',
        `it has more than the ${graph.limit} dependencies that are allowed`,
      );
    case 'cycle':
      return reportedRefusal(
        'dependency-cycle',
        `these changes depend on each other, and ${obstacleText(graph.obstacle)}: ${graph.changes.join(', ')}`,
      );
    case 'topic-too-large':
      return reportedRefusal(
        'too-many-dependencies',
        `its topic "${graph.topic}" has more open changes than can be tested together`,
      );
    case 'unresolved':
      return reportedRefusal('dependency-unresolved', unknownText(graph.names));
  }
}

/**
 * A dependency that is not in the queue yet must be fit to go ahead of the change. Jobs run its code in an independent pipeline,
 * too: there it has to meet the requirements as the change itself does, or unreviewed code ran where review is required.
 */
function misfit(draft: TurnDraft, facts: ChangeFacts, needed: ChangeFacts): EnqueueRefusal | null {
  const { change } = needed.record;
  const name = changeText(change);
  if (draft.manager.needsOrder && (needed.queue === null || needed.queue.key !== facts.queue?.key)) {
    return reportedRefusal(
      'dependency-other-queue',
      `it depends on ${name}, which does not share a change queue with it`,
    );
  }
  if (needed.record.status === 'abandoned') return abandoned(needed);
  if (isAhead(draft, needed)) return null;
  if (!needed.connectionAllowed)
    return refusal(
      'other-connection',
      `it depends on ${name}, and the pipeline takes no changes of its connection`,
    );
  const lacking = [needed.requirements, needed.landing].find(verdict => verdict?.met === false);
  return lacking === undefined
    ? null
    : refusal('dependency-not-ready', `it depends on ${name}, which is not ready: ${lacking.text}`);
}

/** It has a live item already; several dependents share it. */
function isAhead(draft: TurnDraft, { record }: ChangeFacts): boolean {
  return draft.manager.dependencies === 'enter-ahead' && draft.liveItems(record.change.key).length > 0;
}

/** The item that it is in leaves when the facts say that it is no item of its own. */
function isInOtherItem({ record }: ChangeFacts): EnqueueRefusal {
  return refusal(
    'already-enqueued',
    `it can only enter together with ${changeText(record.change)}, which is in this pipeline without it`,
  );
}

/** Some changes of a cycle are in an item that is being reported, or about to leave: they cannot be in another one as well. */
function isTorn(draft: TurnDraft, group: ChangeGroup): EnqueueRefusal {
  const text = (facts: ChangeFacts) => changeText(facts.record.change);
  const here = group.filter(needed => isAhead(draft, needed)).map(text);
  return refusal(
    'dependency-not-ready',
    `it depends on ${groupText(group)}, which can only enter together, and ${here.join(', ')} is in this pipeline already`,
  );
}

function abandoned(needed: ChangeFacts): EnqueueRefusal {
  return reportedRefusal(
    'dependency-abandoned',
    `it depends on ${changeText(needed.record.change)}, which was abandoned`,
  );
}

function limitRefusal(draft: TurnDraft, adding: number): EnqueueRefusal | null {
  const max = draft.input.maxChanges;
  if (max === undefined || draft.itemCount + adding <= max) return null;
  const text =
    adding > max
      ? `${adding} changes to enqueue greater than pipeline max of ${max}`
      : `${adding} more than the ${draft.itemCount} items here would exceed the pipeline max of ${max}`;
  return reportedRefusal('pipeline-full', text);
}

function refusal(code: DecisionCode, text: string): EnqueueRefusal {
  return { code, text, report: false };
}

function reportedRefusal(code: DecisionCode, text: string): EnqueueRefusal {
  return { code, text, report: true };
}

function refused(reason: EnqueueRefusal): EnqueuePlan {
  return { kind: 'refused', refusal: reason };
}

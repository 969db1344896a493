/**
 * Whether a change may enter, and what must go ahead of it: steps 1 to 4 of `enqueue.ts`. Every refusal has a code for the
 * decision and a sentence with the facts; a loud one is also said on the change, because somebody has to do something.
 */
import type { Nanoseconds } from '../lib/clock.ts';
import { type Change, changeText, sameRevision } from '../model/change.ts';
import type { DecisionCode } from '../model/decision.ts';
import { projectIdOf } from '../model/project.ts';
import { replaces } from './departures.ts';
import { type DependencyGraph, dependencyGraph } from './dependency-graph.ts';
import type { ChangeFacts } from './turn.ts';
import type { TurnDraft } from './turn-draft.ts';

export interface EnqueueRefusal {
  readonly code: DecisionCode;
  readonly text: string;
  /** Somebody has to do something: say it on the change. */
  readonly report: boolean;
  /** When there may be another answer by itself. */
  readonly recheckAt?: Nanoseconds;
}

export type EnqueuePlan =
  | { readonly kind: 'refused'; readonly refusal: EnqueueRefusal }
  | { readonly kind: 'go'; readonly ahead: readonly ChangeFacts[] };

export const UNKNOWN_CHANGE: EnqueueRefusal = quiet('no-such-change', 'the change is unknown');

/** Reasons that lie in the change itself. @param change as the event knows it, perhaps an old revision. */
export function ownRefusal(draft: TurnDraft, facts: ChangeFacts, change: Change): EnqueueRefusal | null {
  const { record } = facts;
  if (!facts.connectionAllowed)
    return quiet(
      'other-connection',
      `the pipeline takes no changes of connection ${projectIdOf(change.project).connection}`,
    );
  if (facts.queue === null)
    return quiet('project-not-in-pipeline', `${change.project} takes no part in this pipeline`);
  if (change.kind === 'change') {
    const closed =
      record.status === 'abandoned' || (record.status === 'merged' && !draft.manager.takesMerged);
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
  const { met, text, recheckAt } = facts.requirements;
  if (met) return facts.landing?.met === false ? quiet('cannot-land', facts.landing.text) : null;
  const refusal = quiet('requirement-not-met', text);
  return recheckAt === undefined ? refusal : { ...refusal, recheckAt };
}

/**
 * The dependencies that are not in the queue yet, oldest first, or why they cannot go ahead.
 *
 * @param planned others that will enter in any case.
 */
export function planFor(
  draft: TurnDraft,
  facts: ChangeFacts,
  planned: Iterable<ChangeFacts> = [],
): EnqueuePlan {
  const graph: DependencyGraph = ignoresDependencies(draft)
    ? { kind: 'resolved', ahead: [] }
    : dependencyGraph(draft, facts);
  if (graph.kind !== 'resolved') return refused(graphRefusal(graph));
  const ahead: ChangeFacts[] = [];
  for (const needed of graph.ahead) {
    const refusal = misfit(draft, facts, needed);
    if (refusal !== null) return refused(refusal);
    if (!isAhead(draft, needed)) ahead.push(needed);
  }
  const limit = limitRefusal(draft, new Set([...planned, ...ahead, facts]).size);
  return limit === null ? { kind: 'go', ahead } : refused(limit);
}

export function ignoresDependencies({ manager }: TurnDraft): boolean {
  return manager.dependencies === 'ignored';
}

function graphRefusal(graph: Exclude<DependencyGraph, { readonly kind: 'resolved' }>): EnqueueRefusal {
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
      return loud('dependency-unresolved', `unknown dependencies: ${graph.names.join(', ')}`);
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
    return loud(
      'dependency-other-queue',
      `it depends on ${name}, which does not share a change queue with it`,
    );
  }
  if (needed.record.status === 'abandoned') return abandoned(needed);
  if (isAhead(draft, needed)) return null;
  if (!needed.connectionAllowed)
    return quiet(
      'other-connection',
      `it depends on ${name}, and the pipeline takes no changes of its connection`,
    );
  const lacking = [needed.requirements, needed.landing].find(verdict => verdict?.met === false);
  return lacking === undefined
    ? null
    : quiet('dependency-not-ready', `it depends on ${name}, which is not ready: ${lacking.text}`);
}

/** It is here, and that is enough: items of the same change share one. */
function isAhead(draft: TurnDraft, { record }: ChangeFacts): boolean {
  return draft.manager.dependencies === 'enter-ahead' && draft.liveItems(record.change.key).length > 0;
}

function abandoned(needed: ChangeFacts): EnqueueRefusal {
  return loud(
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
  return loud('pipeline-full', text);
}

function quiet(code: DecisionCode, text: string): EnqueueRefusal {
  return { code, text, report: false };
}

function loud(code: DecisionCode, text: string): EnqueueRefusal {
  return { code, text, report: true };
}

function refused(refusal: EnqueueRefusal): EnqueuePlan {
  return { kind: 'refused', refusal };
}

/**
 * The effects of a turn's internal events and operators' requests, as rows for the span outbox in the turn's commit. An internal
 * event without effect has no trace; an operator's request always has one.
 */

import type { Nanoseconds } from '../../lib/clock.ts';
import type { Uuid } from '../../lib/ids.ts';
import { changesText, leadChange } from '../../model/about-item.ts';
import type { LeaveCode } from '../../model/cause.ts';
import type { Change, ChangeKey } from '../../model/change.ts';
import type { PipelineEvent } from '../../model/event.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import type { SpanRecord } from '../../model/span.ts';
import { promotes } from '../../pipeline/manager/managers.ts';
import type { WholeTurn } from '../../pipeline/turn.ts';
import type { Operation } from '../../store/port.ts';
import type { EventEffect } from '../../tracing/spans/event-effect.ts';
import { internalEventSpans } from '../../tracing/spans/internal-event-spans.ts';
import { managementEventSpans } from '../../tracing/spans/management-event-spans.ts';
import type { SpanOptions } from '../../tracing/spans/span-options.ts';
import { traceRows } from '../care/trace-rows.ts';
import type { PipelineContext } from '../turn/pipeline-context.ts';

/** Reasons to leave that an update of a change can cause. */
const BY_UPDATE: ReadonlySet<LeaveCode> = new Set([
  'abandoned',
  'new-patchset',
  'requirement-lost',
  'cannot-land',
  'dependency-lost',
  'cycle-changed',
  'merged-elsewhere',
]);

/** @param takenAt when the turn took its events. */
export function effectRows(
  events: readonly PipelineEvent[],
  draft: WholeTurn,
  takenAt: Nanoseconds,
  context: PipelineContext,
): readonly Operation[] {
  const options = context.spans();
  if (options === undefined) return [];
  const attributed = new Set<QueueItem>();
  const endedAt = context.clock.now();
  const spans = events.flatMap(event =>
    spansOf(event, { draft, takenAt, endedAt, attributed }, context, options),
  );
  return traceRows(context.nodes, spans, endedAt);
}

interface Turn {
  readonly draft: WholeTurn;
  readonly takenAt: Nanoseconds;
  readonly endedAt: Nanoseconds;
  /** Items that left in this turn and are an effect of one of its events already. */
  readonly attributed: Set<QueueItem>;
}

function spansOf(
  event: PipelineEvent,
  turn: Turn,
  context: PipelineContext,
  options: SpanOptions,
): readonly SpanRecord[] {
  switch (event.kind) {
    case 'superseded': {
      if (event.internal?.sampled !== true) return [];
      const { queuedAt, causedBy } = event.internal;
      const left = claim(turn, item => codeOf(item) === 'superseded' && isOf(item, event.change));
      return internal(
        event,
        { queuedAt, span: causedBy, relation: 'caused_by' },
        left,
        turn,
        context,
        options,
      );
    }
    case 'change-updated': {
      if (event.origin?.sampled !== true) return [];
      const { queuedAt, span } = event.origin;
      const left = claimByUpdate(turn, event.change);
      return internal(event, { queuedAt, span, relation: 'follows' }, left, turn, context, options);
    }
    case 'enqueue':
      return enqueueSpans(event, turn, context, options);
    case 'halt':
      return haltSpans(event, turn, context, options);
    case 'dequeue':
    case 'promote':
    case 'rerun':
      return requestSpans(event, turn, context, options);
    default:
      return [];
  }
}

type PersonsRequest = Extract<PipelineEvent, { kind: 'dequeue' | 'promote' | 'rerun' }>;

/** A request at the host that names no item goes to every pipeline: only those that hold the change have a trace of it. */
function requestSpans(
  event: PersonsRequest,
  turn: Turn,
  context: PipelineContext,
  options: SpanOptions,
): readonly SpanRecord[] {
  const { uuid, by, management } = event;
  const [change] = event.kind === 'promote' ? event.changes : [event.change];
  if (management?.sampled !== true || change === undefined) return [];
  const effect = effectOfRequest(event, turn, context);
  const isForAll = management.follows !== undefined && (event.kind === 'promote' || event.item === undefined);
  if (isForAll && effect.outcome === 'nothing-to-do') return [];
  const facts = {
    ...({ event: uuid, command: event.kind, by, origin: management, effect } as const),
    ...{ tenant: context.tenant.name, pipeline: context.pipeline.name },
    ...{ change: knownChange(change, context), takenAt: turn.takenAt, endedAt: turn.endedAt },
  };
  return managementEventSpans(facts, options);
}

/** One that waits for its time has no effect yet. */
function enqueueSpans(
  { trigger, request }: Extract<PipelineEvent, { kind: 'enqueue' }>,
  { draft, takenAt, endedAt }: Turn,
  { tenant, pipeline }: PipelineContext,
  options: SpanOptions,
): readonly SpanRecord[] {
  if (request?.management.sampled !== true) return [];
  const { uuid, change } = trigger;
  const decision = draft.decisions.find(each => each.event === uuid && each.change === change.key);
  const item = decision?.item ?? undefined;
  const effect: EventEffect =
    item === undefined
      ? { outcome: 'refused', reason: decision?.code ?? 'event-refused', left: [] }
      : { outcome: 'enqueued', left: [], item };
  const facts = {
    ...({ event: uuid, command: 'enqueue', by: request.by, origin: request.management } as const),
    ...{ tenant: tenant.name, pipeline: pipeline.name, change, takenAt, endedAt, effect },
  };
  return managementEventSpans(facts, options);
}

/** The state has its reason, and so have the pages. */
function haltSpans(
  { uuid, wanted, queue, reason, by, management }: Extract<PipelineEvent, { kind: 'halt' }>,
  { draft, takenAt, endedAt }: Turn,
  { tenant, pipeline }: PipelineContext,
  options: SpanOptions,
): readonly SpanRecord[] {
  if (!management.sampled) return [];
  const now = draft.state.halts?.find(halt => halt.queue === queue);
  const isMet = wanted === 'resume' ? now === undefined : now?.mode === wanted;
  const effect: EventEffect = {
    outcome: isMet ? 'halted' : 'refused',
    reason: queue === null ? 'the pipeline' : `queue ${queue}`,
    ...(reason === '' ? {} : { detail: reason }),
    left: [],
  };
  const facts = {
    ...{ event: uuid, command: wanted, by, origin: management, change: null, effect },
    ...{ tenant: tenant.name, pipeline: pipeline.name, takenAt, endedAt },
  };
  return managementEventSpans(facts, options);
}

function effectOfRequest(event: PersonsRequest, turn: Turn, context: PipelineContext): EventEffect {
  switch (event.kind) {
    case 'dequeue':
      return dequeueEffect(turn, event.change, event.item);
    case 'promote':
      return promoteEffect(turn, event, context);
    case 'rerun':
      return rerunEffect(turn, event);
  }
}

function rerunEffect(
  { draft }: Turn,
  { uuid, item }: Extract<PipelineEvent, { kind: 'rerun' }>,
): EventEffect {
  const decision = draft.decisions.find(each => each.event === uuid && each.item === item);
  if (decision === undefined) return { outcome: 'nothing-to-do', reason: 'not-in-the-pipeline', left: [] };
  return decision.code === 'event-refused'
    ? { outcome: 'refused', reason: 'nothing-to-repeat', left: [], item }
    : { outcome: 'rerun', left: [], item };
}

function internal(
  event: Extract<PipelineEvent, { kind: 'superseded' | 'change-updated' }>,
  origin: Parameters<typeof internalEventSpans>[0]['origin'] & { readonly queuedAt: Nanoseconds },
  left: readonly QueueItem[],
  { takenAt, endedAt }: Turn,
  context: PipelineContext,
  options: SpanOptions,
): readonly SpanRecord[] {
  const [first] = left;
  if (first === undefined) return [];
  return internalEventSpans(
    {
      event: event.uuid,
      type: event.kind,
      tenant: context.tenant.name,
      pipeline: context.pipeline.name,
      project: leadChange(first).project,
      change: knownChange(event.change, context),
      queuedAt: origin.queuedAt,
      takenAt,
      endedAt,
      origin,
      effect: { outcome: 'dequeued', left: left.map(leaving) },
      renewal: null,
    },
    options,
  );
}

function dequeueEffect(turn: Turn, change: ChangeKey, only: Uuid | undefined): EventEffect {
  const isMeant = (item: QueueItem) => isOf(item, change) && (only === undefined || item.uuid === only);
  const left = claim(turn, item => codeOf(item) === 'dequeued-by-hand' && isMeant(item));
  if (left.length > 0) return { outcome: 'dequeued', left: left.map(leaving) };
  const isReported = [...turn.draft.state.items.values()].some(
    item => item.phase.phase === 'reporting' && isMeant(item),
  );
  return isReported
    ? { outcome: 'refused', reason: 'being-reported', left: [] }
    : { outcome: 'nothing-to-do', reason: 'not-in-the-pipeline', left: [] };
}

function promoteEffect(
  { draft }: Turn,
  { uuid, changes }: Extract<PipelineEvent, { kind: 'promote' }>,
  { pipeline }: PipelineContext,
): EventEffect {
  const promoted = draft.decisions.flatMap(({ code, event, item, changeText }) =>
    code === 'promoted' && event === uuid && item !== null ? [{ item, change: changeText }] : [],
  );
  if (promoted.length > 0) return { outcome: 'promoted', left: [], promoted };
  const isHere = [...draft.state.items.values()].some(item => changes.some(key => isOf(item, key)));
  if (!isHere) return { outcome: 'nothing-to-do', reason: 'not-in-the-pipeline', left: [] };
  return promotes(pipeline.manager)
    ? { outcome: 'refused', reason: 'as-far-ahead-as-can-be', left: [] }
    : { outcome: 'refused', reason: 'pipeline-is-not-dependent', left: [] };
}

/** Items that left because of an update of their change, and items that left because they depend on one of them. */
function claimByUpdate(turn: Turn, change: ChangeKey): readonly QueueItem[] {
  const gone = new Set([change]);
  const all: QueueItem[] = [];
  for (;;) {
    const next = claim(turn, item => {
      const code = codeOf(item);
      if (code === undefined || !BY_UPDATE.has(code)) return false;
      // The change that joined them is none of its changes yet.
      if (code === 'cycle-changed') return true;
      const keys = code === 'dependency-lost' ? item.dependsOn : item.changes.map(({ key }) => key);
      return keys.some(key => gone.has(key));
    });
    if (next.length === 0) return all;
    all.push(...next);
    for (const item of next) for (const { key } of item.changes) gone.add(key);
  }
}

function claim({ draft, attributed }: Turn, isWanted: (item: QueueItem) => boolean): readonly QueueItem[] {
  const found = draft.left.filter(item => !attributed.has(item) && isWanted(item));
  for (const item of found) attributed.add(item);
  return found;
}

function leaving(item: QueueItem): EventEffect['left'][number] {
  return { item: item.uuid, change: changesText(item), code: codeOf(item) ?? 'reported' };
}

function codeOf({ phase }: QueueItem): LeaveCode | undefined {
  return phase.phase === 'left' ? phase.reason : undefined;
}

function isOf(item: QueueItem, change: ChangeKey): boolean {
  return item.changes.some(({ key }) => key === change);
}

function knownChange(key: ChangeKey, context: PipelineContext): Change | ChangeKey {
  return context.record(key)?.change ?? key;
}

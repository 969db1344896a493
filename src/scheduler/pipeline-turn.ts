/**
 * One turn of a pipeline, the recipe:
 *
 *     read     the pipeline's waiting events, in order                  (events are facts; they stay until the commit)
 *     gather   what the change cache says of every change in sight, judged against the requirements
 *     decide   the pure pass, fed with job graphs until it asks for nothing more
 *     compose  operations: changed items, requests, cancels, report intents, spans that ended, history, acknowledgements
 *     commit   all of it or nothing, under the fence
 *     act      nothing: whoever watches the requests and outboxes goes on from there
 *
 * A commit that fails because a worker was quicker (its request is gone, its result is a new event) changes nothing; the
 * turn is then simply taken again.
 */
import type { Uuid } from '../lib/ids.ts';
import type { ChangeKey, ChangeRecord } from '../model/change.ts';
import type { PipelineEvent } from '../model/event.ts';
import type { MergerOutcome } from '../model/merge.ts';
import type { PipelineState } from '../model/pipeline-state.ts';
import type { QueueEntry } from '../store/event-queue.ts';
import type { Fence } from '../store/fence.ts';
import { type Operation, StoreError } from '../store/port.ts';
import { splitOperations } from '../store/split-operations.ts';
import { gatherChangeFacts } from './change-facts.ts';
import { commandOperations } from './commands.ts';
import { outboxOperations, stateOperations } from './commit-turn.ts';
import { type Draft, decideWithNeeds } from './decide.ts';
import { freezeBuildset } from './freeze-buildset.ts';
import { landedChanges } from './landed-changes.ts';
import type { PipelineContext } from './pipeline-context.ts';

/** Events taken by one turn at most; the rest waits for the next, so that a commit stays small. */
export const MAX_EVENTS = 200;

export type TurnEnd =
  | { readonly kind: 'committed'; readonly state: PipelineState; readonly more: boolean }
  | { readonly kind: 'nothing-to-do' }
  /** Somebody was quicker: take the turn again. */
  | { readonly kind: 'again' };

export async function pipelineTurn(
  context: PipelineContext,
  state: PipelineState,
  fence: Fence,
  limit: number,
): Promise<TurnEnd> {
  const entries = limit === 0 ? [] : await context.events.list(limit);
  const events = entries.map(entry => entry.value);
  const landed = landedChanges(state, events, context.facts.record);
  const draft = decide(context, state, events, landed);
  if (entries.length === 0 && draft.state === state && draft.commands.length === 0)
    return { kind: 'nothing-to-do' };
  await context.graphs.flush();
  const operations = [
    ...context.changes.operations([...landed.values()]),
    ...(await compose(context, state, draft, entries)),
  ];
  try {
    const parts = splitOperations(operations);
    for (const part of parts) await fence.commit(part, context.ids.uuid());
  } catch (error) {
    if (error instanceof StoreError && ['NoNode', 'BadVersion', 'NodeExists'].includes(error.code)) {
      context.log.debug({ err: error }, 'a worker was quicker; taking the turn again');
      return { kind: 'again' };
    }
    throw error;
  }
  context.changes.remember([...landed.values()]);
  explain(context, draft);
  return { kind: 'committed', state: draft.state, more: entries.length === limit };
}

function decide(
  context: PipelineContext,
  state: PipelineState,
  events: readonly PipelineEvent[],
  landed: ReadonlyMap<ChangeKey, ChangeRecord>,
): Draft {
  const outcomes = new Map<Uuid, MergerOutcome>();
  for (const event of events) if (event.kind === 'merger-result') outcomes.set(event.buildset, event.outcome);
  const { maxChangesPerPipeline, maxDependencies } = context.tenant;
  return decideWithNeeds(
    {
      now: context.clock.now(),
      tenant: context.tenant.name,
      pipeline: context.pipeline,
      state,
      events,
      changes: gatherChangeFacts(state, events, {
        ...context.facts,
        record: key => landed.get(key) ?? context.facts.record(key),
      }),
      ids: context.ids,
      ...(maxChangesPerPipeline === undefined ? {} : { maxChanges: maxChangesPerPipeline }),
      ...(maxDependencies === undefined ? {} : { maxDependencies }),
    },
    (need, now) => freezeBuildset(need, now, outcomes.get(need.buildset), context.freezing),
  );
}

/**
 * Requests first, acknowledgements last: should the commit need several parts and a crash fall between them, a request
 * nobody asked for is ignored and the events are there to be taken again, but no item waits for a request that never was.
 */
async function compose(
  context: PipelineContext,
  before: PipelineState,
  draft: Draft,
  entries: readonly QueueEntry<PipelineEvent>[],
): Promise<readonly Operation[]> {
  return [
    ...(await commandOperations(draft, context.commanding)),
    ...stateOperations(before, draft, context.committing),
    ...outboxOperations(before, draft, context.committing, context.clock.now()),
    ...entries.map(entry => context.events.ack(entry)),
  ];
}

function explain(context: PipelineContext, draft: Draft): void {
  for (const decision of draft.decisions) {
    const { code, changeText, item, text } = decision;
    context.log.info({ code, change: changeText, ...(item === null ? {} : { item }) }, text);
  }
}

/**
 * The pure step of a pipeline; `src/pipeline/turn.ts` has its input and output.
 *
 *   1 queues      items of projects that are in another queue now            requeue.ts
 *   2 departures  items that may not stay by the present facts                departures.ts
 *   3 events      facts of the events become part of the records              apply-events.ts
 *   4 passes      per queue, oldest first: moves, resets, jobs, reports       process-item.ts
 *
 * One pass over a queue is enough: a step of an item (fail, move, leave, hold) concerns only items behind it, which the pass has not
 * reached. Its cost is linear in the queue's length: facts about items ahead are in maps, no step walks up the chain. Queues in which
 * nothing can have changed are left out (due-queues.ts).
 *
 * Called again without events and new facts, the turn changes nothing and requests nothing: every request is recorded on its item. One
 * thing a single pass cannot see: an item behind left or was reset, and one ahead had been kept waiting by it, for a host that only one
 * of them may ask, or for a semaphore that the other held. Then the turn calls itself again.
 *
 * A map of the room, in the order of reading:
 *
 *     the turn     turn (its input and output), turn-draft (what is decided so far; queue-drafts, queue-draft, item-drafts, item-index) → state-after, manager/ (all that differs between managers)
 *     what is due  due-queues → turn-memory (what one turn leaves for the next)
 *     entering     enqueue → enqueue-plan → dependency-graph (needed-by) → change-group → new-item
 *     events       apply-events → apply-merger-result (chain-answer), apply-build-events (found-build, returned-room), apply-node-events, build-pauses, apply-report-result
 *     one pass     process-item, with queue-pass (facts about the items ahead) and step-over (the tail that only waits); standing (the item's own state)
 *     place        follow-nearest → move-behind, reset-item; conflicts of items ahead: past-conflicts, judge-by-later-answer
 *     work         prepare-item (merge, freeze) → start-jobs (requirements → provided, reuse-results, semaphore-ledger, job-waits → semaphore-waits, requirement-waits) → report-item (land-together) → request-report (report-steps); stop-work ends what runs
 *     waiting      host-wait, parked-projects (code hosts in trouble); window (how many items run)
 *     people       promote: they move items to the head of their queue; rerun: have failed jobs run again; halts: pause and drain; preview-act: what that would cost
 *     leaving      departures (changed-cycles, seen-alone), overtake → leave-item (remover); requeue moves items between queues
 *     records      timeline, since-taken, takeovers; relative-priority ranks requests; item-progress, for what hosts show
 *
 * Nothing here does I/O, reads a clock, makes random numbers or knows the store, a driver or OpenTelemetry. A fact that is missing
 * is an output (`needs`), an effect is a command, and both are carried out by `src/scheduler/turn`.
 */
import type { Uuid } from '../lib/ids.ts';
import type { PipelineState } from '../model/pipeline-state.ts';
import { applyEvents } from './apply-events.ts';
import { isHostUnasked } from './host-wait.ts';
import { leaveEarly } from './leave-item.ts';
import { processItem } from './process-item.ts';
import type { QueueDraft } from './queue-draft.ts';
import { beginPass } from './queue-pass.ts';
import { stepsOver } from './step-over.ts';
import {
  type FreezeFact,
  joined,
  type Need,
  type TurnInput,
  type TurnOutput,
  type WholeTurn,
} from './turn.ts';
import { TurnDraft } from './turn-draft.ts';
import { fitWindows } from './window.ts';

/** Supplies the job graph of a merged buildset. `state` is the state the need came from. Pure as well. */
export type Freeze = (need: Need, state: PipelineState) => FreezeFact;

/**
 * Decides the whole turn: the pass, repeated with job graphs until it needs none.
 *
 * @param freeze called for each need; it must answer, so that every round comes closer to a state without needs.
 */
export function decideWithNeeds(input: Omit<TurnInput, 'frozen'>, freeze: Freeze): WholeTurn {
  let whole = decideTurn({ ...input, frozen: new Map() });
  while (whole.needs.length > 0) {
    const { needs, state, memory } = whole;
    const frozen = new Map<Uuid, FreezeFact>(needs.map(need => [need.buildset, freeze(need, state)]));
    whole = joined(whole, decideTurn({ ...input, state, memory, events: [], frozen }));
  }
  return whole;
}

/** @returns what follows from `input` alone: equal inputs give equal outputs. To be called again while the output has `needs`. */
export function decideTurn(input: TurnInput): TurnOutput {
  const draft = new TurnDraft(input);
  fitWindows(draft);
  applyEvents(draft);
  for (const queue of draft.queues.due()) processQueue(draft, queue);
  const output = draft.finish();
  // While it has needs it is called again in any case; what changed nothing changes nothing the next time.
  if (output.needs.length > 0 || output.state === input.state) return output;
  if (!isHostUnasked(draft) && !draft.semaphoresFreed) return output;
  const { state, memory } = output;
  return joined(output, decideTurn({ ...input, state, memory, events: [], frozen: new Map() }));
}

function processQueue(draft: TurnDraft, queue: QueueDraft): void {
  const pass = beginPass(draft, queue);
  const { said } = draft;
  for (const uuid of queue.items) {
    const item = draft.item(uuid);
    if (item !== undefined && !stepsOver(draft, pass, item)) processItem(draft, pass, item);
  }
  dropIdleDependencies(draft, queue);
  if (draft.said > said) draft.due.noteQueue(queue);
}

/** Dependency items without an item behind them, which no step of an item could see. */
function dropIdleDependencies(draft: TurnDraft, queue: QueueDraft): void {
  // Thousands of queues have one live item each: none is copied.
  for (let at = queue.items.length - 1; at >= 0; at--) {
    const uuid = queue.items[at];
    const item = uuid === undefined ? undefined : draft.item(uuid);
    if (item === undefined) continue;
    if (item.role === 'live') return;
    leaveEarly(draft, item, 'no-longer-needed', null);
  }
}

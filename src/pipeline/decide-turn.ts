/**
 * The pure step of a pipeline: `src/pipeline/turn.ts` says what goes in and out, the gating contract what it means.
 *
 *   1 queues      items of projects that are in another queue now            requeue.ts
 *   2 departures  items that may not stay as the facts are now                departures.ts
 *   3 events      what happened becomes part of the records                   apply-events.ts
 *   4 passes      per queue, oldest first: moves, resets, jobs, reports       process-queue.ts, process-item.ts
 *
 * Called again without events and with nothing new, it changes nothing and asks for nothing: all it wants done is written
 * on the items together with the wish.
 */
import { applyEvents } from './apply-events.ts';
import { processQueue } from './process-queue.ts';
import type { TurnInput, TurnOutput } from './turn.ts';
import { TurnDraft } from './turn-draft.ts';
import { fitWindows } from './window.ts';

export function decideTurn(input: TurnInput): TurnOutput {
  const draft = new TurnDraft(input);
  fitWindows(draft);
  applyEvents(draft);
  for (const queue of draft.queues) processQueue(draft, queue);
  return draft.finish();
}

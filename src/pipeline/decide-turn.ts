/**
 * The pure step of a pipeline; `src/pipeline/turn.ts` has its input and output.
 *
 *   1 queues      items of projects that are in another queue now            requeue.ts
 *   2 departures  items that may not stay by the present facts                departures.ts
 *   3 events      facts of the events become part of the records              apply-events.ts
 *   4 passes      per queue, oldest first: moves, resets, jobs, reports       process-queue.ts, process-item.ts
 *
 * Called again without events and new facts, it changes nothing and requests nothing: every request is recorded on its item.
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

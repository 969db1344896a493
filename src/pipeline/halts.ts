/**
 * Pausing and draining at an operator's request: the state has it, so it outlives schedulers, and the next turn obeys.
 *
 *     paused    jobs do not start (process-item.ts); builds that were requested go on, and what has passed lands
 *     drained   events of changes that would enter stay in the pipeline's event queue, in their order (enqueue.ts)
 */

import type { PipelineEvent } from '../model/event.ts';
import { MOST_HALTS, type PipelineHalt } from '../model/halt.ts';
import type { TurnDraft } from './turn-draft.ts';

/** The same list where nothing changes. */
export function applyHalt(draft: TurnDraft, event: Extract<PipelineEvent, { readonly kind: 'halt' }>): void {
  const { queue, wanted, reason, by } = event;
  draft.due.all();
  const others = draft.halts.filter(halt => halt.queue !== queue);
  if (wanted === 'resume') {
    if (others.length < draft.halts.length) draft.halts = others;
    return;
  }
  if (others.length >= MOST_HALTS) return;
  const halt: PipelineHalt = { queue, mode: wanted, reason, by, since: draft.input.now };
  draft.halts = [...others, halt];
}

/** The record of a buildset's waits for semaphores. */
import type { JobName } from '../model/project.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { isRequested, waitsAfter } from './job-waits.ts';
import type { Taken } from './semaphore-ledger.ts';
import type { TurnDraft } from './turn-draft.ts';

/** What a job waits for. */
export type FullSemaphores = Extract<Taken, { readonly kind: 'full' }>;

/**
 * The same item when nothing changes.
 *
 * @param item with the builds that were requested just now.
 * @param full every job that waits for nothing else.
 */
export function withSemaphoreWaits(
  draft: TurnDraft,
  item: QueueItem,
  full: ReadonlyMap<JobName, FullSemaphores>,
): QueueItem {
  const { semaphoreWaits: known = [], ...buildset } = item.buildset;
  const due = new Map([...full].map(([job, { semaphores, heldBy }]) => [job, { semaphores, heldBy }]));
  const all = waitsAfter(draft, known, due, job => (isRequested(buildset, job) ? 'taken' : 'given-up'));
  if (all === undefined) return item;
  return { ...item, buildset: all.length === 0 ? buildset : { ...buildset, semaphoreWaits: all } };
}

/** The record of a buildset's waits for semaphores: one entry for each time a job could have started but for them. */
import type { JobName } from '../model/project.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { SemaphoreWait } from '../model/semaphore.ts';
import type { Taken } from './semaphore-ledger.ts';
import type { TurnDraft } from './turn-draft.ts';

/** What a job waits for. */
export type FullSemaphores = Extract<Taken, { readonly kind: 'full' }>;

/**
 * Begins and ends waits; the same item when nothing changes. One that began and ends in the same turn was none.
 *
 * @param item with the builds that were requested just now.
 * @param full every job that waits for nothing else.
 */
export function withSemaphoreWaits(
  draft: TurnDraft,
  item: QueueItem,
  full: ReadonlyMap<JobName, FullSemaphores>,
): QueueItem {
  const known = item.buildset.semaphoreWaits ?? [];
  const waiting = new Set(known.filter(({ ended }) => ended === null).map(({ job }) => job));
  if (full.size === 0 && waiting.size === 0) return item;
  const now = draft.input.now;
  const kept = known.flatMap(wait => {
    if (wait.ended !== null || full.has(wait.job)) return [wait];
    return wait.since === now ? [] : [{ ...wait, ended: { at: now, outcome: outcomeOf(item, wait) } }];
  });
  const begun = [...full].flatMap(([job, { semaphores, heldBy }]): readonly SemaphoreWait[] =>
    waiting.has(job)
      ? []
      : [{ uuid: draft.input.ids.uuid(), job, since: now, semaphores, heldBy, ended: null }],
  );
  const all = [...kept, ...begun];
  if (all.length === known.length && all.every((wait, index) => wait === known[index])) return item;
  const { semaphoreWaits: _, ...buildset } = item.buildset;
  return { ...item, buildset: all.length === 0 ? buildset : { ...buildset, semaphoreWaits: all } };
}

function outcomeOf({ buildset }: QueueItem, { job }: SemaphoreWait): 'taken' | 'given-up' {
  const build = buildset.builds.findLast(each => each.job === job);
  return build?.state.state === 'requested' ? 'taken' : 'given-up';
}

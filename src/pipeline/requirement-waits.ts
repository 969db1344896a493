/** The record of a buildset's waits for what jobs of changes ahead provide. */
import type { JobName } from '../model/project.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { isRequested, waitsAfter } from './job-waits.ts';
import type { Requirements } from './requirements.ts';
import type { TurnDraft } from './turn-draft.ts';

/** What a job waits for. */
export type OpenRequirements = Extract<Requirements, { readonly kind: 'waits' }>;

/**
 * The same item when nothing changes; as `withSemaphoreWaits`.
 *
 * @param full jobs that wait for semaphores and for nothing else.
 */
export function withRequirementWaits(
  draft: TurnDraft,
  item: QueueItem,
  open: ReadonlyMap<JobName, OpenRequirements>,
  full: Pick<ReadonlyMap<JobName, unknown>, 'has'>,
): QueueItem {
  const { requirementWaits: known = [], ...buildset } = item.buildset;
  const due = new Map([...open].map(([job, { kind: _, ...facts }]) => [job, facts]));
  const isMet = (job: JobName) => full.has(job) || isRequested(buildset, job);
  const all = waitsAfter(draft, known, due, job => (isMet(job) ? 'met' : 'given-up'));
  if (all === undefined) return item;
  return { ...item, buildset: all.length === 0 ? buildset : { ...buildset, requirementWaits: all } };
}

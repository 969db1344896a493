/** Semaphores that playbooks of this process hold now, for its metrics. */
import type { StoreBuildsDeps } from '../../executor/store-builds.ts';
import type { Measurement } from '../../metrics/measurement.ts';

export interface PlaybookHolders {
  readonly onHeld: NonNullable<StoreBuildsDeps['onHeld']>;
  /** Only those that are held. */
  measurements(executor: string): readonly Measurement[];
}

export function countPlaybookHolders(): PlaybookHolders {
  const counts = new Map<string, { readonly tenant: string; readonly semaphore: string; count: number }>();
  return {
    onHeld({ tenant, semaphores }, by) {
      for (const semaphore of semaphores) {
        const key = `${tenant} ${semaphore}`;
        const entry = counts.get(key) ?? { tenant, semaphore, count: 0 };
        entry.count += by;
        if (entry.count === 0) counts.delete(key);
        else counts.set(key, entry);
      }
    },
    measurements: executor =>
      [...counts.values()].map(({ tenant, semaphore, count }) => ({
        metric: 'gatehouse_semaphore_playbook_holders',
        labels: { executor, tenant, semaphore },
        value: count,
      })),
  };
}

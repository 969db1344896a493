import { isRetried, resultOf } from '../model/build.ts';
import { currentBuild } from '../model/build-set.ts';
import type { JobNode } from '../model/job.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { isGood } from '../model/results.ts';

/** What a job waits for, in the words operators of Zuul know; null: nothing. */
export function waitingStatus(item: QueueItem, job: JobNode): string | null {
  const build = currentBuild(item.buildset, job.name);
  if (build !== undefined && !isRetried(build)) return build.state.state === 'requested' ? 'executor' : null;
  if (item.buildset.stage.state === 'repo-state') return 'repo state';
  const open = job.dependencies.map(dependency => dependency.name).filter(name => !isDone(item, name));
  if (open.length > 0) return `dependencies: ${open.join(', ')}`;
  const state = item.timeline.at(-1);
  if (state?.state === 'hold-following')
    return `hold-following: ${state.subject ?? 'a job of the item ahead'}`;
  return null;
}

function isDone(item: QueueItem, name: string): boolean {
  const build = currentBuild(item.buildset, name);
  const result = build === undefined ? undefined : resultOf(build);
  return result !== undefined && isGood(result);
}

import { isRetried, resultOf } from '../model/build.ts';
import { conflictText } from '../model/conflict-text.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { isGood } from '../model/results.ts';

/** Why an item will not merge in its current state, in Zuul's words; empty: it is not failing. */
export function failingReasons(item: QueueItem): readonly string[] {
  const { buildset } = item;
  const failed = buildset.builds.some(build => {
    if (!build.voting || isRetried(build)) return false;
    if (build.state.state === 'started') return build.state.failingSince !== undefined;
    const result = resultOf(build);
    return result !== undefined && !isGood(result);
  });
  return [
    ...(item.timeline.at(-1)?.state === 'needed-change' ? ['a needed change is failing'] : []),
    ...(buildset.conflict === null
      ? []
      : [`it has a merge conflict: ${conflictText(buildset.conflict, item.changes)}`]),
    ...(buildset.configErrors.some(error => error.severity === 'error')
      ? ['it has an invalid configuration']
      : []),
    ...(failed ? ['at least one job failed'] : []),
  ];
}

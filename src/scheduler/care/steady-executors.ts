/**
 * The labels executors offer, told with patience: executors restart, lose their sessions, come one after the other when a machine
 * boots. While the set of executors keeps changing, nobody can say that a label is offered by none.
 *
 *     using executors = steadyExecutors(await openExecutorLabels(…), store, paths, clock, 60_000);
 *     executors.canRun(['arm'])       // 'no-executor' (wait and see) until nothing has changed for a minute, then 'no-such-label'
 */
import type { Clock } from '../../lib/clock.ts';
import { pause } from '../../lib/pause.ts';
import type { ExecutorLabels } from '../../store/components.ts';
import type { StorePaths } from '../../store/paths.ts';
import type { Store } from '../../store/port.ts';

export interface SteadyExecutors extends ExecutorLabels {
  /** Resolves when no executor has come or gone for as long as patience lasts, or when aborted. */
  steady(signal: AbortSignal): Promise<void>;
}

/** @param patience milliseconds; 0: what is there now is what there is. */
export function steadyExecutors(
  executors: ExecutorLabels,
  store: Pick<Store, 'watch'>,
  paths: StorePaths,
  clock: Pick<Clock, 'monotonic'>,
  patience: number,
): SteadyExecutors {
  let changedAt = clock.monotonic();
  const watch = store.watch(paths.components('executor'), event => {
    // A record that changes (paused, resumed) offers what it offered.
    if (event.kind !== 'changed') changedAt = clock.monotonic();
  });
  const left = () => changedAt + patience - clock.monotonic();

  return {
    canRun(labels) {
      const answer = executors.canRun(labels);
      return answer === 'no-such-label' && left() > 0 ? 'no-executor' : answer;
    },
    offered: () => executors.offered(),
    async steady(signal) {
      while (left() > 0 && !signal.aborted) await pause(left(), signal);
    },
    [Symbol.dispose]() {
      watch[Symbol.dispose]();
      executors[Symbol.dispose]();
    },
  };
}

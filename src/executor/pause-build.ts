/** The time between run and post-run of a build that returned `zuul.pause: true`: what depends on it runs meanwhile. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Returned } from '../model/returned.ts';
import type { BuildSteps } from './build-steps.ts';
import { halted } from './judge-playbook.ts';
import type { PlaybookEnd } from './outcome.ts';
import { finalReturned } from './returned/build-returns.ts';
import type { BuildContext } from './run-playbook.ts';
import type { SplitTrace } from './split-trace.ts';

/** Stores that the build pauses, with what it returned so far; resolves when it is to go on, or is halted. */
export type Pause = (at: Nanoseconds, returned: Returned | undefined) => Promise<void>;

/**
 * No time of it counts as the job's: the timeouts of what it waits for bound it.
 *
 * @returns undefined: it goes on. @throws StoreError when the pause cannot be stored.
 */
export async function pauseBuild(
  pause: Pause,
  { steps, split }: { readonly steps: BuildSteps; readonly split: SplitTrace },
  context: BuildContext,
): Promise<PlaybookEnd | undefined> {
  const { deps, halt, log, request } = context;
  const startedAt = steps.end();
  await log.line('Job paused: it goes on when the jobs that depend on it have ended');
  await pause(deps.clock.now(), await finalReturned(context, deps.dataSeal));
  const stopped = halt.signal.aborted;
  if (!stopped) await log.line('Job resumed');
  steps.add({
    kind: 'Pause',
    subject: request.jobName,
    startedAt,
    endedAt: deps.clock.now(),
    result: stopped ? 'ABORTED' : 'SUCCESS',
    ...(split.continuedAt() === undefined ? {} : { continued: true }),
  });
  return stopped ? halted(halt) : undefined;
}

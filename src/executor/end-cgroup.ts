/** The end of a build's control groups: logs what the kernel did at their limits. */
import type { BuildCgroup } from './cgroup/build-cgroups.ts';
import { type ExecutorOptions, maxProcessesOf } from './deps.ts';
import type { JobLog } from './job-log.ts';

/** @returns what the kernel did to the build at its limits, as a sentence. */
export async function endCgroup(
  { log, options }: { readonly log: Pick<JobLog, 'line'>; readonly options: ExecutorOptions },
  cgroup: BuildCgroup,
): Promise<string | undefined> {
  const { outOfMemory, refusedForks } = cgroup.events();
  for (const path of await cgroup.remove()) await log.line(`the control group ${path} could not be removed`);
  if (refusedForks > 0)
    await log.line(
      `the build reached its limit of ${maxProcessesOf(options)} processes; ${refusedForks} more could not be started`,
    );
  if (outOfMemory === 0) return undefined;
  const words = `the build reached its limit of ${options.memoryLimitBytes} bytes of memory; the kernel killed ${outOfMemory} of its processes`;
  await log.line(words);
  return words;
}

/** Whether a job's nodeset can be satisfied at all. */
import type { FrozenJob } from '../../model/job.ts';
import type { ExecutorLabels } from '../../store/components.ts';

/**
 * Why no registered executor can run the job, for the result's detail. Undefined: one can, or none is registered yet and the request
 * waits.
 *
 *     no executor offers the node label "arm" (offered: gpu, linux)
 */
export function labelProblem(
  { nodes }: Pick<FrozenJob, 'nodes'>,
  executors: Pick<ExecutorLabels, 'canRun' | 'offered'>,
): string | undefined {
  const wanted = [...new Set(nodes.map(({ label }) => label))];
  if (executors.canRun(wanted) !== 'no-such-label') return undefined;
  const offered = executors.offered();
  const unknown = wanted.filter(label => !offered.includes(label));
  const list = offered.length === 0 ? 'none' : offered.join(', ');
  if (unknown.length === 0)
    return `no executor offers the node labels ${quoted(wanted)} together (offered: ${list})`;
  return `no executor offers the node label${unknown.length === 1 ? '' : 's'} ${quoted(unknown)} (offered: ${list})`;
}

function quoted(labels: readonly string[]): string {
  return labels.map(label => JSON.stringify(label)).join(', ');
}

/**
 * Which of a job's nodesets it gets, and whether any can be had at all. A nodeset can be had where one registered executor offers all its
 * labels: whether that one is busy or paused does not count, its builds wait.
 */
import type { FrozenJob, FrozenNodeset } from '../../model/job.ts';
import type { ExecutorLabels } from '../../store/components.ts';

type Executors = Pick<ExecutorLabels, 'canRun' | 'offered'>;
type Wanted = Pick<FrozenJob, keyof FrozenNodeset | 'alternatives'>;

/**
 * The job with the first of its nodesets that some executor offers; the others stay its alternatives, in their order. Where none is
 * offered, the first that may yet be: executors are just coming and going, or none is registered.
 */
export function withOfferedNodeset(job: FrozenJob, executors: Executors): FrozenJob {
  const { alternatives = [], ...rest } = job;
  if (alternatives.length === 0) return job;
  const all = [ownOf(job), ...alternatives];
  const answers = all.map(nodeset => executors.canRun(labelsOf(nodeset)));
  const at = Math.max(0, answers.includes('yes') ? answers.indexOf('yes') : answers.indexOf('no-executor'));
  const { nodes: _, nodesetName: __, groups: ___, ...others } = rest;
  return { ...others, ...(all[at] ?? ownOf(job)), alternatives: all.filter((____, index) => index !== at) };
}

/**
 * Why no registered executor can run the job, for the result's detail. Undefined: one can, or none is registered yet and the request
 * waits.
 *
 *     no executor offers the node label "arm" (offered: gpu, linux)
 */
export function labelProblem(job: Wanted, executors: Executors): string | undefined {
  const nodesets = [ownOf(job), ...(job.alternatives ?? [])];
  if (nodesets.some(nodeset => executors.canRun(labelsOf(nodeset)) !== 'no-such-label')) return undefined;
  const offered = executors.offered();
  const problems = nodesets.map(nodeset => missingText(labelsOf(nodeset), offered));
  const list = offered.length === 0 ? 'none' : offered.join(', ');
  return `no executor offers ${[...new Set(problems)].join(', nor ')} (offered: ${list})`;
}

/** A request waits for labels that no executor offers any more, while one of its alternatives is offered. */
export function isBetterElsewhere(job: Wanted, executors: Executors): boolean {
  if (executors.canRun(labelsOf(job)) !== 'no-such-label') return false;
  return (job.alternatives ?? []).some(nodeset => executors.canRun(labelsOf(nodeset)) === 'yes');
}

function ownOf({ nodesetName, nodes, groups }: Wanted): FrozenNodeset {
  return {
    ...(nodesetName === undefined ? {} : { nodesetName }),
    nodes,
    ...(groups === undefined ? {} : { groups }),
  };
}

function labelsOf({ nodes }: FrozenNodeset): readonly string[] {
  return [...new Set(nodes.map(({ label }) => label))];
}

function missingText(wanted: readonly string[], offered: readonly string[]): string {
  const unknown = wanted.filter(label => !offered.includes(label));
  if (unknown.length === 0) return `the node labels ${quoted(wanted)} together`;
  return `the node label${unknown.length === 1 ? '' : 's'} ${quoted(unknown)}`;
}

function quoted(labels: readonly string[]): string {
  return labels.map(label => JSON.stringify(label)).join(', ');
}

/**
 * Which of a job's nodesets it gets, and whether any can be had at all. A nodeset can be had where one registered executor offers all its
 * labels, or where the hosts of `nodes.yaml` can serve all its nodes: whether they are busy or paused does not count, builds wait. Either
 * way the executor must have the version of Ansible that the job takes.
 */
import type { BuildRequest } from '../../model/build-request.ts';
import { unreachedText } from '../../model/executor-zone.ts';
import type { FrozenJob, FrozenNodeset } from '../../model/job.ts';
import type { NodeGrant, WantedNodes } from '../../model/static-host.ts';
import type { NodeOffers } from '../care/steady-executors.ts';

type Executors = NodeOffers;
type Wanted = Pick<FrozenJob, keyof FrozenNodeset | 'alternatives' | 'ansibleVersion'>;

/**
 * The job with the first of its nodesets that some executor offers; the others stay its alternatives, in their order. Where none is
 * offered, the first that may yet be: executors are just coming and going, or none is registered.
 */
export function withOfferedNodeset(job: FrozenJob, executors: Executors): FrozenJob {
  const { alternatives = [], ...rest } = job;
  if (alternatives.length === 0) return job;
  const all = [ownOf(job), ...alternatives];
  const answers = all.map(nodeset => answerTo(nodeset, job, executors));
  const at = Math.max(0, answers.includes('yes') ? answers.indexOf('yes') : answers.indexOf('no-executor'));
  const { nodes: _, nodesetName: __, groups: ___, ...others } = rest;
  return { ...others, ...(all[at] ?? ownOf(job)), alternatives: all.filter((____, index) => index !== at) };
}

/**
 * Why no registered executor can run the job, for the result's detail. Undefined: one can, or none is registered yet and the request
 * waits.
 *
 *     no executor offers the node label "arm" (offered: gpu, linux)
 *     no executor with its node labels has Ansible 9 (installed: 8, 11)
 *     no executor that is running takes builds without a zone
 */
export function labelProblem(job: Wanted, executors: Executors): string | undefined {
  const nodesets = [ownOf(job), ...(job.alternatives ?? [])];
  if (nodesets.some(nodeset => answerTo(nodeset, job, executors) !== 'no-such-label')) return undefined;
  if (nodesets.some(nodeset => answerTo(nodeset, {}, executors) !== 'no-such-label'))
    return ansibleProblem(job, executors);
  if (executors.canRun([]) === 'no-such-label' && nodesets.every(({ nodes }) => !isOfHosts(nodes, executors)))
    return unreachedText(undefined);
  const ofHosts = executors.hosts?.labels() ?? [];
  const offered = [...new Set([...executors.offered(), ...ofHosts])].sort();
  const problems = nodesets.map(nodeset => missingText(labelsOf(nodeset), offered));
  const list = offered.length === 0 ? 'none' : offered.join(', ');
  const none = ofHosts.length === 0 ? 'no executor offers' : 'neither an executor nor the hosts offer';
  return `${none} ${[...new Set(problems)].join(', nor ')} (offered: ${list})`;
}

function ansibleProblem({ ansibleVersion, nodes }: Wanted, executors: Executors): string {
  const installed = executors.ansibleVersions().join(', ') || 'none';
  const which = nodes.length === 0 ? 'no executor' : 'no executor with its node labels';
  return `${which} has Ansible ${ansibleVersion} (installed: ${installed}); see [executor] ansible_root`;
}

function isOfHosts(nodes: Wanted['nodes'], { hosts }: Executors): boolean {
  return nodes.length > 0 && hosts !== undefined && hosts.canServe(nodes) !== 'no';
}

/** Whether the version of Ansible that the job takes is, for now, nowhere: also where hosts are granted already. */
export function lacksAnsible({ ansibleVersion }: Wanted, { canRun }: Executors): boolean {
  return ansibleVersion !== undefined && canRun([], ansibleVersion, null) === 'no-such-label';
}

/** Whether no executor reaches the hosts that a build has, or none that does has its version of Ansible. */
export function isCutOff(
  { ansibleVersion }: Wanted,
  { zone }: Pick<NodeGrant, 'zone'>,
  { canRun }: Executors,
): boolean {
  return canRun([], ansibleVersion, zone) === 'no-such-label';
}

/** For hosts, where no executor offers its labels: what its request says. Undefined: executors serve it. */
export function wantedOfHosts(
  { job: { nodes, ansibleVersion }, tenant, pipeline, item, buildset, requestedAt }: BuildRequest,
  executors: Executors,
): WantedNodes | undefined {
  const { hosts } = executors;
  if (hosts === undefined || executors.canRun(labelsOf({ nodes }), ansibleVersion) === 'yes')
    return undefined;
  if (hosts.canServe(nodes) === 'no') return undefined;
  const of = { pipeline, item, buildset };
  return { tenant, of, requestedAt, nodes: nodes.map(({ name, label }) => ({ name, label })) };
}

/** `no-executor`: that may change. */
function answerTo(
  nodeset: FrozenNodeset,
  { ansibleVersion }: Pick<Wanted, 'ansibleVersion'>,
  { canRun, hosts }: Executors,
): ReturnType<Executors['canRun']> {
  const byExecutors = canRun(labelsOf(nodeset), ansibleVersion);
  if (byExecutors === 'yes' || hosts === undefined) return byExecutors;
  const byHosts = hosts.canServe(nodeset.nodes);
  if (byHosts === 'no') return byExecutors;
  // Hosts that no executor reaches are out of service.
  const runner = ansibleVersion === undefined ? 'yes' : canRun([], ansibleVersion, null);
  if (runner !== 'yes') return runner;
  return byHosts === 'yes' ? 'yes' : 'no-executor';
}

/**
 * A request waits for labels that are offered no more where it waits, at the executors or the hosts, while they, or one of its
 * alternatives, are offered elsewhere.
 */
export function isBetterElsewhere(job: Wanted, waitsForHosts: boolean, executors: Executors): boolean {
  const here = waitsForHosts
    ? executors.hosts?.canServe(job.nodes) === 'no'
    : executors.canRun(labelsOf(job), job.ansibleVersion) === 'no-such-label';
  return here && canBeHad(job, executors);
}

/** Whether executors or hosts in service offer one of its nodesets now. */
export function canBeHad(job: Wanted, executors: Executors): boolean {
  return [ownOf(job), ...(job.alternatives ?? [])].some(
    nodeset => answerTo(nodeset, job, executors) === 'yes',
  );
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

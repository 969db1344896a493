/**
 * The variables of a job's nodes, each with what holds for it in the end: a name written for a group wins over one of the job, one of
 * the node over those, one of `extra-vars` over all. Of several groups the last by name wins. A name replaces another whole.
 */
import type { FrozenJob, NodeGroup, NodeRequirement, Variables } from '../model/job.ts';

/** Hosts that could not be reached so far; as in Zuul it takes the place of a group of the nodeset with this name. */
export const UNREACHABLE_GROUP = 'zuul_unreachable';

/** A host of the inventory. */
export interface HostFacts {
  readonly label: string;
  /** Names of the groups it is in, sorted. */
  readonly groups: readonly string[];
  /** Only what the job's own variables do not say. */
  readonly vars: Variables;
  /** How to reach it, for Ansible's inventory. Absent: it is this machine. */
  readonly connection?: Variables;
}

type Given = Pick<FrozenJob, 'vars' | 'extraVars' | 'hostVars' | 'groupVars' | 'nodes' | 'groups'>;

/** What holds everywhere, in scripts and in plays for `localhost`. */
export function commonVariables({ vars, groupVars = {}, extraVars }: Given): Variables {
  return { ...vars, ...groupVars.all, ...extraVars };
}

/**
 * By the name of the host; a node with several names is several hosts.
 *
 * @param connections by the name of the node; empty: all are this machine.
 */
export function hostFacts(
  job: Given,
  connections: ReadonlyMap<string, Variables> = new Map(),
): ReadonlyMap<string, HostFacts> {
  const own = (job.groups ?? []).filter(({ name }) => name !== UNREACHABLE_GROUP);
  const sorted = own.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const hosts = job.nodes.flatMap(node => namesOf(node).map(name => [name, node] as const));
  return new Map(
    hosts.map(([name, node]) => {
      const connection = connections.get(node.name);
      const facts = factsOf(name, node.label, sorted, job);
      return [name, connection === undefined ? facts : { ...facts, connection }];
    }),
  );
}

/** Of the hosts that a node is. */
export function namesOf({ name, aliases = [] }: NodeRequirement): readonly string[] {
  return [name, ...aliases];
}

function factsOf(
  name: string,
  label: string,
  sorted: readonly NodeGroup[],
  { extraVars, hostVars = {}, groupVars = {} }: Given,
): HostFacts {
  const groups = sorted.filter(({ nodes }) => nodes.includes(name)).map(group => group.name);
  const vars = [groupVars.all, ...groups.map(group => groupVars[group]), hostVars[name], extraVars];
  return { label, groups, vars: Object.assign({}, ...vars) };
}

/**
 * The inventory of a job with nodes, in the form that Ansible reads as YAML. Nodes that are no hosts of `nodes.yaml` are this machine: plays for
 * several of them run side by side in the same workspace.
 *
 *     {"all": {"hosts": {"a": {…}, "b": {…}}, "children": {"web": {"hosts": {"a": {}}}}}}
 */
import type { Json } from '../../model/job.ts';
import type { HostFacts } from '../host-variables.ts';

/** Variables that make a host this machine; the interpreter is that of Ansible itself. */
const LOCAL = { ansible_connection: 'local', ansible_python_interpreter: '{{ ansible_playbook_python }}' };

/** @param hosts by name. */
export function inventoryOf(hosts: ReadonlyMap<string, HostFacts>): Json {
  const groups = Map.groupBy(
    [...hosts].flatMap(([name, facts]) => facts.groups.map(group => ({ name, group }))),
    ({ group }) => group,
  );
  const children = [...groups].map(([group, members]) => [
    group,
    { hosts: namedHosts(members.map(({ name }) => name)) },
  ]);
  const all = [...hosts].map(([name, { connection }]) => [name, connection ?? LOCAL] as const);
  return { all: { hosts: Object.fromEntries(all), children: Object.fromEntries(children) } };
}

function namedHosts(names: readonly string[]): { readonly [name: string]: Json } {
  return Object.fromEntries(names.map(name => [name, {}]));
}

/**
 * Names a job's variables must not have: the service's own, and those by which Ansible is steered. A job of an untrusted project may
 * run a trusted project's playbook; with `ansible_python_interpreter` among its variables that playbook would run the job's program.
 *
 *     reservedVariable('zuul')                  →   'is set by the service'
 *     reservedVariable('ansible_connection')    →   'means something to Ansible'
 */

const OWN = new Set(['zuul', 'nodepool']);

/**
 * What Ansible sets itself, and keywords of its plays that are dictionaries; besides all that begins with `ansible_`. Not `role_name`, which
 * jobs of zuul-jobs have: within a role Ansible's own value wins.
 */
const OF_ANSIBLE = new Set([
  ...['group_names', 'groups', 'hostvars', 'inventory_dir', 'inventory_file', 'inventory_hostname'],
  ...['inventory_hostname_short', 'omit', 'play_hosts', 'playbook_dir', 'role_names', 'role_path'],
  ...['role_uuid', 'vars', 'environment'],
]);

/**
 * Beginnings of names that are about tools of Ansible's people, whose roles have them; Ansible itself and its plugins read none of them. All
 * others that begin with `ansible_` are reserved, also those that no release reads yet.
 */
const OF_TOOLS = /^ansible_(core|galaxy|github|lint|test)_/;
/** `ansible_X_interpreter` runs modules whose first line names X. */
const INTERPRETER = /_interpreter$/;

/** @returns why a variable cannot have this name; undefined: it can. */
export function reservedVariable(name: string): string | undefined {
  if (OWN.has(name)) return 'is set by the service';
  if (OF_TOOLS.test(name) && !INTERPRETER.test(name)) return undefined;
  return name.startsWith('ansible_') || OF_ANSIBLE.has(name) ? 'means something to Ansible' : undefined;
}

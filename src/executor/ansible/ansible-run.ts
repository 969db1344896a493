/**
 * Runs a playbook with Ansible: one process in the sandbox, against the machine itself (`localhost`), with the build's variables
 * as data; its plays and tasks are reported through the step file (`gatehouse_steps.py`), and what tasks returned is in `job-output.json`
 * in the build's log directory (`gatehouse_json.py`).
 *
 *     <info>/ansible/ansible.cfg                          the same for all; no other configuration is read
 *     <info>/ansible/inventory                            localhost; of a job with nodes inventory.json with those instead
 *     <info>/ansible/site.json                            variables of the installation, above those of the job
 *     <info>/ansible/unreachable.json, execution.yaml     of the playbook that runs (execution-files.ts)
 *     <info>/ansible/callback_plugins/gatehouse_steps.py, gatehouse_json.py
 *     <info>/ansible/action_plugins/zuul_return.py, zuul_console.py
 *     <info>/ansible/group_vars/all/job.yaml              the job's variables and `zuul`, as data
 *     <info>/ansible/group_vars/all/secrets.yaml          a link to the playbook's secrets, which win over them; to nothing where it has none
 *     <info>/ansible/host_vars/<node>/job.yaml            those of the node, its groups and extra-vars, which win over the job's
 *     <info>/ansible/host_vars/<node>/secrets.yaml        as above: secrets win over these as well
 *
 * Ansible itself is not part of Gatehouse: it is the `ansible-playbook` on the job's PATH.
 */

import { copyFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ownFile } from '../../lib/own-file.ts';
import type { FrozenJob, Json, Variables } from '../../model/job.ts';
import { reservedVariable } from '../../model/reserved-variables.ts';
import { makeDirectory } from '../build-places.ts';
import { type HostFacts, namesOf } from '../host-variables.ts';
import { findProgram } from '../sandbox/find-runtime.ts';
import type { JobView } from '../sandbox/sandbox.ts';
import { executionArguments, type PlaybookExecution, placeExecution } from './execution-files.ts';
import { inventoryOf } from './inventory.ts';
import { variablesYaml } from './variables-yaml.ts';

const PROGRAM = 'ansible-playbook';
const FOLDER = 'ansible';
/** Next to the inventory, where Ansible looks for it: variables set by a play or a role have precedence, as with Zuul. */
const GROUPS = 'group_vars';
const HOSTS = 'host_vars';
const OWN = ownFile('src/executor/ansible');
const LOCALHOST = 'inventory';
/** Ansible reads it as YAML by its ending. */
const NODES = 'inventory.json';
/** Not marked as data: Ansible evaluates what an administrator wrote. */
const SITE = 'site.json';
const PLUGINS = 'callback_plugins';
const CALLBACKS = ['gatehouse_steps.py', 'gatehouse_json.py'];
const ACTIONS = 'action_plugins';
const ZUUL_ACTIONS = ['zuul_return.py', 'zuul_console.py'];

/** Exit status of ansible-playbook when a host could not be reached, and also when it could not read the playbook. */
export const UNREACHABLE_STATUS = 4;

/** What the build's variables file is made of. */
export interface JobVariables {
  readonly zuul: Json;
  readonly vars: Variables;
  /** By name. */
  readonly hosts: ReadonlyMap<string, HostFacts>;
  /** Variables of the installation, which are in `vars` as well. */
  readonly site: Variables;
}

/** @param path `PATH` of jobs; in the sandbox it leads to the same files as on the host. @returns undefined: not installed. */
export function findAnsible(path: string): Promise<string | undefined> {
  return findProgram(PROGRAM, path);
}

/**
 * Writes the files every Ansible playbook of a build needs, where jobs can only read.
 *
 * @param info the build's directory for that, on the host.
 * @param secrets the file with secrets, as the job sees it.
 */
export async function placeAnsibleFiles(
  info: string,
  variables: JobVariables,
  secrets: string,
): Promise<void> {
  const folder = join(info, FOLDER);
  makeDirectory(folder, 0o755, null);
  for (const name of [PLUGINS, ACTIONS, GROUPS, HOSTS]) makeDirectory(join(folder, name), 0o755, null);
  const { zuul, vars, hosts, site } = variables;
  const named = new Map<string, Json>([[join(folder, GROUPS, 'all'), { ...harmless(vars), zuul }]]);
  for (const [host, facts] of hosts)
    named.set(join(folder, HOSTS, host), { ...harmless(facts.vars), nodepool: nodepoolOf(facts) });
  await Promise.all([
    copyFile(join(OWN, 'ansible.cfg'), join(folder, 'ansible.cfg')),
    writeFile(join(folder, SITE), JSON.stringify(site)),
    hosts.size === 0
      ? copyFile(join(OWN, LOCALHOST), join(folder, LOCALHOST))
      : writeFile(join(folder, NODES), JSON.stringify(inventoryOf(hosts))),
    ...CALLBACKS.map(name => copyFile(join(OWN, name), join(folder, PLUGINS, name))),
    ...ZUUL_ACTIONS.map(name => copyFile(join(OWN, name), join(folder, ACTIONS, name))),
    ...[...named].map(([place, values]) => placeVariables(place, values, secrets)),
  ]);
}

/** As in Zuul: what roles ask about a node. */
function nodepoolOf({ label, connection }: HostFacts): { readonly [name: string]: Json } {
  if (connection === undefined) return { label };
  const address = connection.ansible_host ?? null;
  const addresses = { interface_ip: address, public_ipv4: address, private_ipv4: address };
  return { label, provider: 'static', az: null, cloud: null, region: null, ...addresses };
}

/** Ansible reads all files of the place in the order of their names: secrets win. */
async function placeVariables(place: string, values: Json, secrets: string): Promise<void> {
  makeDirectory(place, 0o755, null);
  await symlink(secrets, join(place, 'secrets.yaml'));
  await writeFile(join(place, 'job.yaml'), `${variablesYaml(values)}\n`);
}

/** Leaves out names that control Ansible: layouts refuse them, but a request may be older than that check. */
function harmless(vars: Variables): Variables {
  return Object.fromEntries(Object.entries(vars).filter(([name]) => reservedVariable(name) === undefined));
}

/** The inventory, as the job sees it. @param info likewise. */
export function inventoryPath(info: string, hasNodes: boolean): string {
  return `${info}/${FOLDER}/${hasNodes ? NODES : LOCALHOST}`;
}

/** @param program from {@link findAnsible}. @param playbook, info as the job sees them. @param hasNodes the job has. */
export function ansibleArgv(
  program: string,
  playbook: string,
  info: string,
  hasNodes: boolean,
): readonly string[] {
  const folder = `${info}/${FOLDER}`;
  const inventory = inventoryPath(info, hasNodes);
  // Of several files the last one wins.
  return [program, '-i', inventory, '-e', `@${folder}/${SITE}`, ...executionArguments(folder), playbook];
}

/** Writes the facts about the run of the next playbook. @param unreachable names that the job gave; others than its hosts' do not count. */
export async function placePlaybookRun(
  info: string,
  execution: PlaybookExecution,
  job: Pick<FrozenJob, 'nodes'>,
  unreachable: ReadonlySet<string>,
): Promise<void> {
  const hosts = job.nodes.length === 0 ? ['localhost'] : job.nodes.flatMap(namesOf);
  await placeExecution(
    join(info, FOLDER),
    execution,
    hosts.filter(host => unreachable.has(host)),
  );
}

/** @param roles directories of roles, as the job sees them. */
export function ansibleEnvironment(
  view: Pick<JobView, 'info' | 'home'>,
  roles: readonly string[],
): { readonly [name: string]: string } {
  return {
    ANSIBLE_CONFIG: `${view.info}/${FOLDER}/ansible.cfg`,
    // Modules would write their arguments to the log of the machine, and failures show them.
    ANSIBLE_NO_TARGET_SYSLOG: 'true',
    ANSIBLE_DISPLAY_ARGS_TO_STDOUT: 'false',
    // Empty would be the default: places of the machine.
    ANSIBLE_ROLES_PATH: roles.join(':') || `${view.info}/roles`,
    // By default below `~<user>`, which does not exist without a sandbox: the host does not know the user `job`.
    ANSIBLE_REMOTE_TEMP: `${view.home}/.ansible/tmp`,
    // What a role sets as cacheable is there for later playbooks, too: as long and for whom the home directory is.
    ANSIBLE_CACHE_PLUGIN_CONNECTION: `${view.home}/.ansible/facts`,
  };
}

/** Determines how each playbook of a build is started, before the first one runs. */
import { dirname } from 'node:path';
import type { BuildPlaybook, BuildRequest } from '../model/build-request.ts';
import { isInventoryName } from '../model/inventory-name.ts';
import {
  ansibleArgv,
  ansibleEnvironment,
  findAnsible,
  type JobVariables,
  placeAnsibleFiles,
} from './ansible/ansible-run.ts';
import { placedRoles } from './ansible/place-roles.ts';
import type { BuildPlaces } from './build-places.ts';
import type { Phase } from './job-environment.ts';
import { type ResolvedPlaybook, resolvePlaybook } from './resolve-playbook.ts';
import type { JobView } from './sandbox/sandbox.ts';
import type { Workspace } from './workspace.ts';

/** One playbook, ready to be started. */
export interface PlannedPlaybook {
  readonly playbook: BuildPlaybook;
  /** Position in its phase, from 0. */
  readonly index: number;
  /** In the job's view. */
  readonly argv: readonly string[];
  /** In addition to the environment of every playbook. */
  readonly environment: { readonly [name: string]: string };
  /** What reads its file of secrets. */
  readonly reader: 'script' | 'ansible';
}

/** In each phase in the order in which they run. */
export type PlaybookPlan = { readonly [phase in Phase]: readonly PlannedPlaybook[] };

/** Known once the workspace is prepared: playbooks are looked for in their checkouts. */
export interface PlanFacts {
  readonly request: BuildRequest;
  readonly workspace: Workspace;
  readonly places: BuildPlaces;
  readonly view: JobView;
  readonly variables: JobVariables;
  /** `ansible-playbook` by version, as {@link ExecutorOptions.ansibles}. */
  readonly ansibles: ReadonlyMap<string, string>;
}

/** @returns the plan, or the first problem: one line for the author of the job. */
export async function planPlaybooks(facts: PlanFacts): Promise<PlaybookPlan | string> {
  const { preRun, run, postRun } = facts.request.playbooks;
  const plan: { [phase in Phase]: PlannedPlaybook[] } = { 'pre-run': [], run: [], 'post-run': [] };
  const ansible = ansibleOnce(facts);
  for (const [phase, playbooks] of [
    ['pre-run', preRun],
    ['run', run],
    ['post-run', postRun],
  ] as const) {
    for (const [index, playbook] of playbooks.entries()) {
      const resolved = await resolvePlaybook(playbook, facts.workspace.treeOf(playbook));
      if (resolved.kind === 'unusable') return resolved.reason;
      const start =
        resolved.kind === 'program'
          ? { argv: [resolved.path], environment: {}, reader: 'script' as const }
          : await ansible(resolved, playbook);
      if (typeof start === 'string') return start;
      plan[phase].push({ playbook, index, ...start });
    }
  }
  return plan;
}

type AnsiblePlaybook = Extract<ResolvedPlaybook, { kind: 'ansible' }>;
type Start = Pick<PlannedPlaybook, 'argv' | 'environment' | 'reader'>;

/** @throws Error the version that the job takes is not there any more: the machine's fault, another one may have it. */
async function programOf(
  { ansibleVersion }: BuildRequest['job'],
  ansibles: ReadonlyMap<string, string>,
  { path }: JobView,
): Promise<string | undefined> {
  if (ansibleVersion === undefined) return findAnsible(path);
  const program = ansibles.get(ansibleVersion);
  if (program !== undefined && (await findAnsible(dirname(program))) === program) return program;
  throw new Error(`Ansible ${ansibleVersion} is not there any more; restart this executor`);
}

/** Located and prepared for the first playbook that needs it. */
function ansibleOnce({
  request,
  workspace,
  view,
  places,
  variables,
  ansibles,
}: PlanFacts): (found: AnsiblePlaybook, playbook: BuildPlaybook) => Promise<Start | string> {
  let program: string | undefined;
  const rolesOf = placedRoles({ roles: request.roles ?? [], info: places.info, view, workspace });
  return async ({ path, name }, playbook) => {
    if (program === undefined) {
      program = await programOf(request.job, ansibles, view);
      if (program === undefined)
        return `playbook ${name} is one for Ansible, and this executor has no ansible-playbook (looked for in ${view.path})`;
      const unusable = [...variables.hosts.keys()].find(host => !isInventoryName(host));
      if (unusable !== undefined)
        return `node ${JSON.stringify(unusable)} cannot be a host of Ansible's; give it another name`;
      await placeAnsibleFiles(places.info, variables, view.secrets);
    }
    const roles = await rolesOf(playbook);
    if (roles.kind === 'unusable') return `playbook ${name} cannot run: ${roles.reason}`;
    return {
      argv: ansibleArgv(program, path, view.info, variables.hosts.size > 0),
      environment: ansibleEnvironment(view, roles.path),
      reader: 'ansible',
    };
  };
}

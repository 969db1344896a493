/**
 * Facts about the run of one playbook, for Ansible, as Zuul gives them: written anew before each, where jobs can only read.
 *
 *     <info>/ansible/unreachable.json    {"zuul_unreachable": {"hosts": {"web1": {}}}}, a second inventory
 *     <info>/ansible/execution.yaml      {"zuul_success": !unsafe "False", "zuul_will_retry": …}, above all other variables
 *
 * The variables are texts, which Zuul's jobs read with the filter `bool`.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BuildPlaybook } from '../../model/build-request.ts';
import type { Variables } from '../../model/job.ts';
import { UNREACHABLE_GROUP } from '../host-variables.ts';
import { variablesYaml } from './variables-yaml.ts';

const INVENTORY = 'unreachable.json';
const VARIABLES = 'execution.yaml';
const PHASES = { 'pre-run': 'pre', run: 'run', 'post-run': 'post' } as const;

/** One playbook that is about to begin. */
export interface PlaybookExecution {
  readonly playbook: BuildPlaybook;
  readonly phase: keyof typeof PHASES;
  /** Null: it is not in post-run, and so below. */
  readonly success: boolean | null;
  readonly willRetry: boolean | null;
  /** Position in its phase, from 0. */
  readonly index: number;
}

/** @param folder as the playbook sees it. */
export function executionArguments(folder: string): readonly string[] {
  return ['-i', `${folder}/${INVENTORY}`, '-e', `@${folder}/${VARIABLES}`];
}

/** @param folder on the host. @param unreachable names of the inventory. @throws Error of the file system. */
export async function placeExecution(
  folder: string,
  execution: PlaybookExecution,
  unreachable: readonly string[],
): Promise<void> {
  const hosts = Object.fromEntries(unreachable.map(name => [name, {}]));
  await writeFile(join(folder, INVENTORY), JSON.stringify({ [UNREACHABLE_GROUP]: { hosts } }));
  await writeFile(join(folder, VARIABLES), `${variablesYaml(executionVariables(execution))}\n`);
}

function executionVariables({ phase, playbook, success, willRetry, index }: PlaybookExecution): Variables {
  return {
    ...(success === null ? {} : { zuul_success: asPython(success) }),
    ...(willRetry === null ? {} : { zuul_will_retry: asPython(willRetry) }),
    zuul_execution_phase: PHASES[phase],
    zuul_execution_phase_index: String(index),
    zuul_execution_trusted: asPython(playbook.trusted),
    zuul_execution_canonical_name_and_path: `${playbook.canonicalName}/${playbook.path}`,
    zuul_execution_branch: playbook.branch ?? '',
  };
}

function asPython(flag: boolean): 'True' | 'False' {
  return flag ? 'True' : 'False';
}

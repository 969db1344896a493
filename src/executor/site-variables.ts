/**
 * Variables of the installation: the file of `[executor] variables`, read at the start. As in Zuul they win over all others of a job, secrets
 * included, and Ansible evaluates what is in `{{ }}`: the administrator wrote them. Names that control Ansible are refused.
 */
import { readFile } from 'node:fs/promises';
import type { Variables } from '../model/job.ts';
import { parseVariables } from './include-vars.ts';

/** @param file undefined: there is none. @throws Error that names the file and what is wrong with it. */
export async function readSiteVariables(file: string | undefined): Promise<Variables> {
  if (file === undefined) return {};
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`[executor] variables: ${reason}`, { cause: error });
  }
  const found = parseVariables(text);
  if ('problem' in found) throw new Error(`[executor] variables: ${file} ${found.problem}`);
  return found.vars;
}

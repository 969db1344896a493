/** Reads and checks the tenant file, or what its script prints; every error as one line with file and line number. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseTenantFile } from '../../layout/tenant/tenant-file.ts';
import { configErrorText } from '../../model/config-error.ts';
import type { AnsibleChoice, Tenant } from '../../model/layout.ts';
import type { ConnectionName } from '../../model/project.ts';
import { runTenantScript, type ScriptOutput } from './run-tenant-script.ts';

/** Tenants in the order of the file, or every mistake in it. */
export type ReadTenants =
  | {
      readonly kind: 'tenants';
      readonly tenants: readonly Tenant[];
      /** For people. */
      readonly warnings: readonly string[];
    }
  | { readonly kind: 'invalid'; readonly errors: readonly string[] };

/**
 * Runs it, where it is a script.
 *
 * @param file as errors shall show it.
 * @param connections those that tenants may use, with the host part of canonical project names.
 * @param ansible the versions of Ansible that they may name.
 */
export async function readTenants(
  file: string,
  isScript: boolean,
  connections: ReadonlyMap<ConnectionName, string>,
  ansible?: AnsibleChoice,
): Promise<ReadTenants> {
  const read = isScript ? await runTenantScript(path.resolve(file)) : await readText(file);
  if (read.kind === 'failed') {
    const option = isScript ? 'tenant_config_script' : 'tenant_config';
    return { kind: 'invalid', errors: [`${file}: ${read.reason}; see [scheduler] ${option}`] };
  }
  const parsed = parseTenantFile(read.text, isScript ? `output of ${file}` : file, connections, ansible);
  if (parsed.kind === 'tenants') return { ...parsed, warnings: parsed.warnings.map(configErrorText) };
  return { kind: 'invalid', errors: parsed.errors.map(configErrorText) };
}

async function readText(file: string): Promise<ScriptOutput> {
  try {
    return { kind: 'text', text: await readFile(file, 'utf8') };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { kind: 'failed', reason: `cannot be read (${reason})` };
  }
}

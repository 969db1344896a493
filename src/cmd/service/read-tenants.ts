/** Reads and checks the tenant file; every error as one line with file and line number. */
import { readFile } from 'node:fs/promises';
import { parseTenantFile } from '../../layout/tenant-file.ts';
import { configErrorText } from '../../model/config-error.ts';
import type { Tenant } from '../../model/layout.ts';
import type { ConnectionName } from '../../model/project.ts';

/** Tenants in the order of the file, or every mistake in it. */
export type ReadTenants =
  | { readonly kind: 'tenants'; readonly tenants: readonly Tenant[] }
  | { readonly kind: 'invalid'; readonly errors: readonly string[] };

/** @param file as errors shall show it. @param connections those that tenants may use, with the host part of canonical project names. */
export async function readTenants(
  file: string,
  connections: ReadonlyMap<ConnectionName, string>,
): Promise<ReadTenants> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return {
      kind: 'invalid',
      errors: [`${file}: cannot be read (${reason}); see [scheduler] tenant_config`],
    };
  }
  const parsed = parseTenantFile(text, file, connections);
  if (parsed.kind === 'tenants') return parsed;
  return { kind: 'invalid', errors: parsed.errors.map(configErrorText) };
}

/** `global-semaphore:` stanzas of the tenant file, and the tenants that may use them (`semaphores`). */
import { didYouMean } from '../../lib/nearest-name.ts';
import type { Tenant } from '../../model/layout.ts';
import { type MappingReader, mappingReader } from '../reading/mapping-reader.ts';
import type { ParseContext } from '../reading/parse-context.ts';
import { readSemaphore } from '../stanzas/parse-semaphore.ts';
import { describeNode, type YamlNode } from '../yaml/yaml-node.ts';

/** Kind of the stanza. */
export const GLOBAL_SEMAPHORE = 'global-semaphore';

/** `max` by name. */
export type GlobalSemaphores = ReadonlyMap<string, number>;

/** @param stanzas all of the file; other kinds are left to the caller. */
export function parseGlobalSemaphores(stanzas: readonly YamlNode[], context: ParseContext): GlobalSemaphores {
  const semaphores = new Map<string, number>();
  for (const stanza of stanzas) {
    const entry = stanza.kind === 'mapping' ? stanza.entries.get(GLOBAL_SEMAPHORE) : undefined;
    if (entry === undefined) continue;
    const { value } = entry;
    if (value.kind !== 'mapping') {
      const text = `${GLOBAL_SEMAPHORE} is ${describeNode(value)}; it must be a mapping`;
      context.problem({ offset: value.offset, code: 'wrong-type', text });
      continue;
    }
    const read = mappingReader(value, GLOBAL_SEMAPHORE, context);
    const semaphore = readSemaphore(read);
    read.finish();
    if (semaphore === undefined) continue;
    if (semaphores.has(semaphore.name)) {
      const text = `${GLOBAL_SEMAPHORE} ${semaphore.name} is defined twice; remove one`;
      context.problem({ offset: stanza.offset, code: 'duplicate-definition', text });
    }
    semaphores.set(semaphore.name, semaphore.max);
  }
  return semaphores;
}

/** `semaphores` of a tenant. */
export function readGlobalSemaphores(
  read: MappingReader,
  subject: string,
  semaphores: GlobalSemaphores,
  context: ParseContext,
): Pick<Tenant, 'globalSemaphores'> {
  const usable = (read.names('semaphores') ?? []).flatMap(({ name, offset }) => {
    const max = semaphores.get(name);
    if (max !== undefined) return [[name, max] as const];
    const hint = didYouMean(name, semaphores.keys(), context.hints);
    const text = `${subject} may use ${name}, but there is no ${GLOBAL_SEMAPHORE} of that name${hint}; define it in this file`;
    context.problem({ offset, code: 'unknown-semaphore', text });
    return [];
  });
  return usable.length === 0 ? {} : { globalSemaphores: Object.fromEntries(usable) };
}

import type { Json, Variables } from './job.ts';

/** `over` wins; where both hold a mapping of one name, the mappings are merged the same way. */
export function mergeVars(base: Variables, over: Variables): Variables {
  const merged = new Map<string, Json>(Object.entries(base));
  for (const [name, value] of Object.entries(over)) {
    const below = merged.get(name);
    merged.set(name, isVariables(below) && isVariables(value) ? mergeVars(below, value) : value);
  }
  return Object.fromEntries(merged);
}

/** Those of one node or group, by its name. */
type NamedVariables = { readonly [name: string]: Variables };

/** Merges those of each name. */
export function mergeNamedVars(base: NamedVariables, over: NamedVariables): NamedVariables {
  const merged = new Map(Object.entries(base));
  for (const [name, vars] of Object.entries(over)) merged.set(name, mergeVars(merged.get(name) ?? {}, vars));
  return Object.fromEntries(merged);
}

/** Whether it is a mapping. */
export function isVariables(value: Json | undefined): value is Variables {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

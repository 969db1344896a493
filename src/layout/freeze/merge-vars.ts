import type { Json } from '../../model/job.ts';

type Vars = { readonly [name: string]: Json };

/** `over` wins; where both hold a mapping of one name, the mappings are merged the same way. */
export function mergeVars(base: Vars, over: Vars): Vars {
  const merged = new Map<string, Json>(Object.entries(base));
  for (const [name, value] of Object.entries(over)) {
    const below = merged.get(name);
    merged.set(name, isVars(below) && isVars(value) ? mergeVars(below, value) : value);
  }
  return Object.fromEntries(merged);
}

function isVars(value: Json | undefined): value is Vars {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The namespace `gatehouse.` is reserved: only Gatehouse sets attributes in it. */
import type { Attributes } from '../model/span.ts';

const OURS = 'gatehouse.';
const NONE: ReadonlySet<string> = new Set();

/** Strips reserved attributes from spans of other services. @param except reserved names that may stay. */
export function withoutOurs(attributes: Attributes, except: ReadonlySet<string> = NONE): Attributes {
  return Object.fromEntries(
    Object.entries(attributes).filter(([name]) => !name.startsWith(OURS) || except.has(name)),
  );
}

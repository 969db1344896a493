/** Names that begin with `gatehouse.` are ours alone: what we say under them can be believed. */
import type { Attributes } from '../model/span.ts';

const OURS = 'gatehouse.';
const NONE: ReadonlySet<string> = new Set();

/** What somebody else says, without what only we may say. @param except names they may use all the same. */
export function withoutOurs(attributes: Attributes, except: ReadonlySet<string> = NONE): Attributes {
  return Object.fromEntries(
    Object.entries(attributes).filter(([name]) => !name.startsWith(OURS) || except.has(name)),
  );
}

/** What the git driver notes on its change records, for its own requirements to read. */
import type { Json } from '../../src/model/job.ts';
import { isMapping } from './mapping.ts';

export interface GitFacts {
  /** The approval branch points at the current commit. */
  readonly approved: boolean;
  readonly 'current-patchset': boolean;
}

/** Whatever does not say so counts as not approved: records may have been written by another version. */
export function readFacts(facts: Json): GitFacts {
  const found = isMapping(facts) ? facts : {};
  return { approved: found.approved === true, 'current-patchset': found['current-patchset'] === true };
}

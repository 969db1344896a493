/** The facts of the git driver's change records, for its requirements. */

import { isMapping } from '../../src/driver/read-mapping.ts';
import type { Json } from '../../src/model/job.ts';

/** Stored with the change record; {@link readFacts} reads them back. */
export interface GitFacts {
  /** The approval branch points at the current commit. */
  readonly approved: boolean;
  readonly 'current-patchset': boolean;
}

/** A missing or unknown value counts as false: another version may have written the record. */
export function readFacts(facts: Json): GitFacts {
  const found = isMapping(facts) ? facts : {};
  return { approved: found.approved === true, 'current-patchset': found['current-patchset'] === true };
}

/**
 * Tests of walls that only a working bubblewrap gives:
 *
 *     describeOnBubblewrap('the walls of the sandbox', () => { test('...', ...) });
 *
 * They do not ask our own sandbox whether it stands: where bubblewrap works and the sandbox does not, they fail.
 */
import { describe, inject } from 'vitest';
import { ON_BUBBLEWRAP } from './provided.ts';

/** A `describe` that is skipped, visibly, where bubblewrap is missing or forbidden. */
export function describeOnBubblewrap(name: string, body: () => void): void {
  describe.skipIf(inject('bubblewrap').kind === 'none')(`${name} ${ON_BUBBLEWRAP}`, body);
}

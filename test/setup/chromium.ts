/** A real browser for tests: `describeOnChromium('the page', executablePath => { test('...', ...) })`. */
import { describe, inject } from 'vitest';
import { ON_CHROMIUM } from './provided.ts';

/** A `describe` that is skipped, visibly, where there is no browser. `body` gets the path of the program. */
export function describeOnChromium(name: string, body: (executablePath: string) => void): void {
  const provided = inject('chromium');
  const path = provided.kind === 'found' ? provided.program : '';
  describe.skipIf(provided.kind === 'none')(`${name} ${ON_CHROMIUM}`, () => body(path));
}

/** A real reverse proxy for tests: `describeOnNginx('behind a proxy', program => { test('...', ...) })`. */
import { describe, inject } from 'vitest';
import { ON_NGINX } from './provided.ts';

/** A `describe` that is skipped, visibly, where there is no nginx. `body` gets the path of the program. */
export function describeOnNginx(name: string, body: (program: string) => void): void {
  const provided = inject('nginx');
  const program = provided.kind === 'found' ? provided.program : '';
  describe.skipIf(provided.kind === 'none')(`${name} ${ON_NGINX}`, () => body(program));
}

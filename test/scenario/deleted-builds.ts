import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { TRASH } from '../../src/executor/remove-build.ts';
import { DEADLINE } from './observer.ts';

/** What ended builds had is deleted a moment after them; until then a walk over the files meets some that go. @param state the service's `state_dir`. */
export async function buildsAreDeleted(state: string): Promise<void> {
  const trash = path.join(state, 'jobs', TRASH);
  await expect.poll(() => (existsSync(trash) ? readdirSync(trash) : []), { timeout: DEADLINE }).toEqual([]);
}

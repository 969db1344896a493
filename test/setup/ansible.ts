/**
 * Ansible for tests, on machines that have it or can get it (`find-ansible.ts`):
 *
 *     describeOnAnsible('a playbook', () => { test('...', ...) });
 *
 * Such tests carry {@link ON_ANSIBLE} in their name and live in files with `ansible` in theirs: for those it is looked for. Elsewhere
 * they are skipped by that name, and counted in the last lines of the run.
 */
import { describe, inject } from 'vitest';
import { ON_ANSIBLE } from './provided.ts';

/** False: what needs Ansible must be skipped, by a name with {@link ON_ANSIBLE} in it. */
function hasAnsible(): boolean {
  return inject('ansible').kind === 'found';
}

/** A `describe` that is skipped, visibly, where there is no Ansible. */
export function describeOnAnsible(name: string, body: () => void): void {
  describe.skipIf(!hasAnsible())(`${name} ${ON_ANSIBLE}`, body);
}

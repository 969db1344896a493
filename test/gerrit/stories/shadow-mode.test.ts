/** A tenant in shadow mode asks Gerrit and writes nothing there. */
import { expect } from 'vitest';
import { gerritStory } from './gerrit-world.ts';

for (const asked of ['http', 'ssh'] as const)
  gerritStory(
    `nothing is written at Gerrit over ${asked} in shadow mode`,
    { tenantOptions: ['shadow-mode: true'], asked },
    async world => {
      const { gerrit } = world;
      world.fail('unit', { number: 2 });
      const [good, bad] = [await world.push({ message: 'Log in' }), await world.push({ message: 'Log out' })];
      world.free();
      expect((await world.leaves(good, 'SUCCESS', 'check')).reason).toBe('not-reported');
      await world.leaves(bad, 'FAILURE', 'check');
      for (const change of [good, bad]) await world.approve(change);
      expect((await world.leaves(good, 'SUCCESS')).reason).toBe('not-reported');
      await world.leaves(bad, 'FAILURE');
      for (const change of [good, bad]) expect(change.now.status).toBe('NEW');
      const own = gerrit.events.filter(({ json }) => JSON.stringify(json).includes('"username":"gatehouse"'));
      expect(own).toEqual([]);
      expect(
        gerrit.requests.filter(({ method, path }) => method !== 'GET' && !path.includes('git-upload-pack')),
      ).toEqual([]);
    },
  );

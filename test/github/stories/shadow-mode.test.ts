/** A tenant in shadow mode asks GitHub and writes nothing there. */
import { expect } from 'vitest';
import { githubStory } from './github-world.ts';

/** Requests that change nothing of a repository: a token, reads, and webhooks that were missed. */
const ASKING = [
  ...['apps/create-installation-access-token', 'apps/redeliver-webhook-delivery', 'git/fetch', 'graphql'],
];

for (const landing of ['push', 'api'])
  githubStory(
    `nothing is written at GitHub in shadow mode with landing = ${landing}`,
    { tenantOptions: ['shadow-mode: true'], connection: [`landing = ${landing}`] },
    async world => {
      const { github, app, observer } = world;
      world.fail('unit', { number: 2 });
      const [good, bad] = [await world.open({ title: 'Log in' }), await world.open({ title: 'Log out' })];
      for (const pull of [good, bad]) await observer.until('the check', () => world.item(pull, 'check'));
      const seen = github.requests.length;
      world.free();
      expect((await world.leaves(good, 'SUCCESS', 'check')).reason).toBe('not-reported');
      await world.leaves(bad, 'FAILURE', 'check');
      for (const pull of [good, bad]) await github.review(app, pull, 'bob', 'APPROVED');
      expect((await world.leaves(good, 'SUCCESS')).reason).toBe('not-reported');
      await world.leaves(bad, 'FAILURE');
      await github.settled();
      expect(good.now).toMatchObject({ state: 'open', merged: false });
      expect([app.checks, app.statuses]).toEqual([[], []]);
      expect(github.requests.length).toBeGreaterThan(seen);
      const writes = github.requests.filter(
        ({ method, operation, body }) =>
          operation === 'git/push' ||
          (method !== 'GET' && !ASKING.includes(operation)) ||
          (operation === 'graphql' && JSON.stringify(body).includes('mutation')),
      );
      expect(writes).toEqual([]);
    },
  );

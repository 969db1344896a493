/** Case 25: a repository gets another name while the configuration has the old one. */
import { expect } from 'vitest';
import { githubStory } from './github-world.ts';

githubStory(
  'a renamed repository is an error of the configuration with both names, and nothing lands under the old one',
  {
    connection: ['sweep_interval = 1'],
    // A read of the repository in the meantime is sent to its new name.
    expectedTrouble: [
      /acme\/application/,
      /could not report acme\/app 1/,
      /returned error: 301/,
      /the configuration of local\/acme\/app/,
    ],
  },
  async ({ github, app, api, observer, open, item, runs, free, leaves }) => {
    const pull = await open();
    await github.review(app, pull, 'bob', 'APPROVED');
    await observer.until('the gate to take it', () => item(pull) !== undefined);
    await runs('unit: 1');
    await github.rename(app, 'acme/application');
    const isNamed = async () =>
      JSON.stringify(await api.get('/api/connections')).includes(
        'repository acme/app is named acme/application at GitHub now',
      );
    await observer.until('the connection to show both names', isNamed);
    free();
    await observer.until('the item to wait for its host', () =>
      observer.items().some(({ state }) => state.name === 'host'),
    );
    expect(pull.now.merged).toBe(false);
    // The other way out is to write the new name into the configuration.
    await github.rename(app, 'acme/app');
    await leaves(pull, 'SUCCESS');
    expect(pull.now.merged).toBe(true);
    await observer.until('the connection to serve again', async () => !(await isNamed()));
  },
);

/** The machine that runs jobs has no key of the App: it fetches private repositories with access that the scheduler lends. */
import { expect, test } from 'vitest';
import { startZooKeeper } from '../../fake/zookeeper/server.ts';
import { DEADLINE } from '../../scenario/observer.ts';
import { TOKEN } from '../../scenario/site.ts';
import { describeOnZooKeeper } from '../../setup/zookeeper.ts';
import { openGithubWorld } from './github-world.ts';
import { filesBelow, secretsOf } from './secrets.ts';

describeOnZooKeeper('an executor without the key of the App', () => {
  test('tests and lands a change of a private repository, and no token is in the store, spans or log', {
    timeout: 4 * DEADLINE,
  }, async () => {
    await using server = await startZooKeeper();
    await using world = await openGithubWorld({
      executorApart: { kind: 'zookeeper', host: server.host, port: server.port, root: '/gatehouse' },
      keepsLog: true,
      before: async (_, repositories) => {
        for (const each of repositories.values()) each.isPrivate = true;
      },
    });
    const { github, app, sink, log, observer } = world;
    world.free();
    const pull = await world.open();
    await github.review(app, pull, 'bob', 'APPROVED');
    await world.leaves(pull, 'SUCCESS');
    expect(pull.now.merged).toBe(true);
    await observer.until('the spans of the access that was lent', () =>
      sink.spans.some(({ name }) => name.startsWith('BuildRepoAccess')),
    );
    await world.end();

    // The transaction log of the server has every node as it was ever written.
    const store = await filesBelow(server.dataDirectory);
    expect(store).toContain('"k":"access-request"');
    expect(store).toContain('"state":"lent"');
    const places = {
      store,
      spans: sink.requests.map(({ body }) => body.toString('latin1')).join('\n'),
      log: log.all.join('\n'),
    };
    const secrets = secretsOf(github, TOKEN);
    for (const [place, text] of Object.entries(places))
      expect([place, secrets.filter(secret => text.includes(secret))]).toEqual([place, []]);
  });
});

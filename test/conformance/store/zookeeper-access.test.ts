/** Digest authentication: what we make is ours alone, and stays so when the connection breaks. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Secret } from '../../../src/lib/secret.ts';
import { create, remove, type Store, set, type WatchEvent } from '../../../src/store/port.ts';
import { type FaultProxy, startFaultProxy } from '../../fake/fault-proxy.ts';
import { describeOnZooKeeper, sharedZooKeeper } from '../../setup/zookeeper.ts';
import { eventually } from './eventually.ts';
import { freshRoot } from './fresh-root.ts';
import { StateLog } from './state-log.ts';
import { openSource } from './zookeeper-sessions.ts';

const as = (user: string, password: string) => ({ auth: { user, password: new Secret(password) } });

describeOnZooKeeper('access', () => {
  let stack: AsyncDisposableStack;
  let proxy: FaultProxy;
  let root: string;
  const sessionOf = async (more: Parameters<typeof openSource>[1]): Promise<Store> =>
    await stack.use(openSource([proxy], { sessionTimeoutMs: 20_000, ...more })).connect('test');

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    proxy = stack.use(await startFaultProxy(sharedZooKeeper()));
    root = freshRoot();
  });
  afterEach(async () => await stack.disposeAsync());

  test('what one user made others can neither read nor change, and the same user can, with any session', async () => {
    const mine = await sessionOf(as('gatehouse', 'one'));
    await mine.multi([create(root, Buffer.from('secret')), create(`${root}/x`)]);
    for (const stranger of [
      await sessionOf({}),
      await sessionOf(as('gatehouse', 'two')),
      await sessionOf(as('other', 'one')),
    ]) {
      for (const call of [
        stranger.get(root),
        stranger.children(root),
        stranger.getMany([root]),
        stranger.multi([set(root, Buffer.from('x'))]),
        stranger.multi([create(`${root}/y`)]),
        stranger.multi([remove(`${root}/x`)]),
      ])
        await expect(call).rejects.toMatchObject({ code: 'Auth' });
    }
    const again = await sessionOf(as('gatehouse', 'one'));
    await again.multi([set(`${root}/x`, Buffer.from('1'), 0), remove(`${root}/x`)]);
    expect(Buffer.from((await again.get(root))?.data ?? []).toString()).toBe('secret');
  });

  test('a user who may not read the root gets the error immediately, without retries', async () => {
    const mine = await sessionOf(as('gatehouse', 'one'));
    await mine.multi([create(root)]);
    await expect(sessionOf({ ...as('gatehouse', 'two'), root })).rejects.toMatchObject({ code: 'Auth' });
    await expect(sessionOf({ root })).rejects.toMatchObject({ code: 'Auth' });
    expect((await sessionOf({ ...as('gatehouse', 'one'), root })).sessionState).toBe('connected');
  });

  test('after each cut the first request is already authenticated, and watches are heard', async () => {
    const mine = await sessionOf(as('gatehouse', 'one'));
    await mine.multi([create(root)]);
    const events: WatchEvent[] = [];
    mine.watch(root, event => events.push(event));
    const log = new StateLog(mine);
    for (let round = 1; round <= 5; round++) {
      const first = Promise.withResolvers<unknown>();
      using _ = mine.onSessionState(state => {
        if (state !== 'connected') return;
        first.resolve(mine.multi([set(root, Buffer.from(String(round)), round - 1)]));
      });
      proxy.cut();
      await first.promise;
      await eventually(() => expect(log.states).toHaveLength(2 * round));
    }
    await mine.multi([create(`${root}/x`)]);
    await eventually(() => expect(events.at(-1)).toEqual({ kind: 'created', path: `${root}/x` }));
  });
});

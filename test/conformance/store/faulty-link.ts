/**
 * A session behind a proxy that can fail it, and one beside it that sees what really happened.
 *
 *     await using link = await openFaultyLink({ sessionTimeoutMs: 30_000 });
 *     const result = await link.losingReply(() => link.store.multi(...), async () => (await link.observer.get(x)) !== undefined);
 */
import { create, type Store } from '../../../src/store/port.ts';
import { type FaultProxy, startFaultProxy } from '../../fake/fault-proxy.ts';
import { sharedZooKeeper } from '../../setup/zookeeper.ts';
import { eventually } from './eventually.ts';
import { freshRoot } from './fresh-root.ts';
import { type Address, openSource } from './zookeeper-sessions.ts';

export interface FaultyLink extends AsyncDisposable {
  readonly proxy: FaultProxy;
  /** Behind the proxy. */
  readonly store: Store;
  /** Beside it, straight to the server. */
  readonly observer: Store;
  /** A node of the test's own; it exists. */
  readonly root: string;
  /** Another session straight to the server, with the timeout of the first. */
  connect(name: string): Promise<Store>;
  /** Another one behind the proxy. */
  connectBehind(name: string): Promise<Store>;
  /**
   * Makes the server carry the call out and the client not hear of it; the connection then breaks.
   *
   * @param from replies are lost from the first request on that holds this text; default: at once.
   */
  losingReply<T>(call: () => Promise<T>, applied: () => Promise<boolean>, from?: string): Promise<T>;
  /** Makes the server not hear of the call; the connection then breaks. */
  losingRequest<T>(call: () => Promise<T>): Promise<T>;
}

export async function openFaultyLink(options: {
  readonly sessionTimeoutMs: number;
  /** Default: the shared one. */
  readonly server?: Address;
}): Promise<FaultyLink> {
  await using stack = new AsyncDisposableStack();
  const server = options.server ?? sharedZooKeeper();
  const { sessionTimeoutMs } = options;
  const proxy = stack.use(await startFaultProxy(server));
  const behind = openSource([proxy], { sessionTimeoutMs });
  stack.defer(async () => {
    // So that it can say goodbye.
    proxy.set({ kind: 'pass' });
    await behind[Symbol.asyncDispose]();
  });
  const beside = stack.use(openSource([server], { sessionTimeoutMs }));
  const observer = await stack.use(openSource([server])).connect('observer');
  const store = await behind.connect('behind');
  const root = freshRoot();
  await observer.multi([create(root)]);
  const owned = stack.move();
  return {
    proxy,
    store,
    observer,
    root,
    connect: async name => await beside.connect(name),
    connectBehind: async name => await behind.connect(name),
    async losingReply(call, applied, from = '') {
      using trap = proxy.onRequest(piece => {
        if (piece.includes(from)) proxy.set({ kind: 'dropReplies' });
      });
      const dropped = proxy.nextDrop();
      const outcome = settled(call());
      await eventually(applied);
      // Others see it before its reply is on its way.
      await dropped;
      trap[Symbol.dispose]();
      proxy.set({ kind: 'pass' });
      return await unwrap(outcome);
    },
    async losingRequest(call) {
      const dropped = proxy.nextDrop();
      proxy.set({ kind: 'dropRequests' });
      const outcome = settled(call());
      await dropped;
      proxy.set({ kind: 'pass' });
      return await unwrap(outcome);
    },
    [Symbol.asyncDispose]: async () => await owned.disposeAsync(),
  };
}

/** Keeps a rejection that is awaited later from counting as unhandled. */
async function settled<T>(promise: Promise<T>): Promise<PromiseSettledResult<T>> {
  const [result] = await Promise.allSettled([promise]);
  return result;
}

async function unwrap<T>(outcome: Promise<PromiseSettledResult<T>>): Promise<T> {
  const result = await outcome;
  if (result.status === 'rejected') throw result.reason;
  return result.value;
}

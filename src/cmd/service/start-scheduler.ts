import type { History } from '../../history/history.ts';
import { createScheduler } from '../../scheduler/scheduler.ts';
import { type Component, type Core, canonicalName } from './core.ts';
import { changeExplainer } from './explain-change.ts';
import { layoutThreads } from './open-layouts.ts';

/**
 * Resolves when the scheduler runs; `notReady` returns undefined once its tenants are configured.
 *
 * @param history undefined: this process has no history open.
 */
export async function startScheduler(
  core: Core,
  history: Pick<History, 'recentDurations' | 'decisions' | 'item' | 'itemsLeft'> | undefined,
): Promise<Component & { readonly ready: Promise<void> }> {
  const stop = new AbortController();
  const store = await core.session();
  const keystore = await core.keyring?.open(store, core.paths, core.clock);
  const explainer = changeExplainer(core, store, history);
  const scheduler = await createScheduler({
    clock: core.clock,
    wall: Date.now,
    ids: core.ids,
    log: core.log.child({ component: 'scheduler' }),
    store,
    paths: core.paths,
    connections: core.connections,
    messengers: core.messengers,
    drivers: core.drivers.byName,
    tenants: core.tenants,
    ...(core.nodes === undefined ? {} : { nodes: core.nodes }),
    openLayouts: layoutThreads(core.drivers, core.messengers),
    ...(keystore === undefined ? {} : { secretKeys: keystore }),
    places: { canonicalName: project => canonicalName(core, project) },
    webRoot: core.root(),
    tracing: core.tracing,
    metrics: core.metrics,
    ...(history === undefined ? {} : { history, recordedDurations: () => history.recentDurations() }),
    notices: core.notices,
    explainChange: explainer.explain,
    name: `${core.host}/${process.pid}`,
    relativePriority: core.settings.scheduler.relativePriority,
    // Restarting an executor or its machine must not fail a change.
    executorPatience: core.settings.store.kind === 'zookeeper' ? 60_000 : 0,
  });
  let isReady = false;
  void scheduler.ready.then(() => {
    isReady = true;
  });
  const ended = scheduler.run(stop.signal);
  return {
    name: 'scheduler',
    ready: scheduler.ready,
    ended,
    notReady: () => (isReady ? undefined : 'reading the configuration of the tenants'),
    pause: () => scheduler.pause(),
    resume: () => scheduler.resume(),
    drain: () => Promise.race([scheduler.drain(), ended.catch(() => {})]),
    async close() {
      stop.abort(new Error('the scheduler is stopping'));
      await ended.finally(() => {
        explainer[Symbol.dispose]();
        return store.close();
      });
    },
  };
}

import { type ProjectKey, projectIdOf, projectKey } from '../../model/project.ts';
import { createScheduler } from '../../scheduler/scheduler.ts';
import { type Component, type Core, canonicalName } from './core.ts';
import { driversByName } from './open-connections.ts';

/** Resolves when the scheduler has begun; `notReady` tells when its tenants are configured. */
export async function startScheduler(core: Core): Promise<Component & { readonly ready: Promise<void> }> {
  const stop = new AbortController();
  const store = core.session();
  const { tracing } = core.settings;
  const remotes = await mirrorPaths(core);
  const scheduler = await createScheduler({
    clock: core.clock,
    ids: core.ids,
    log: core.log.child({ component: 'scheduler' }),
    store,
    paths: core.paths,
    connections: core.connections,
    drivers: driversByName(),
    tenants: core.tenants,
    places: {
      canonicalName: project => canonicalName(core, project),
      remote: project => remotes.get(project) ?? '',
    },
    webRoot: core.root(),
    spans: core.spans,
    sample: () => tracing.kind === 'on' && Math.random() < tracing.sampleRatio,
    host: core.host,
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
    notReady: () => (isReady ? undefined : 'the configuration of the tenants is being read'),
    async close() {
      stop.abort(new Error('the scheduler is stopping'));
      await ended.finally(() => store.close());
    },
  };
}

/** Executors fetch tested commits from the merger's mirrors. */
async function mirrorPaths(core: Core): Promise<ReadonlyMap<ProjectKey, string>> {
  const projects = new Set(core.tenants.flatMap(tenant => tenant.projects.map(each => each.project)));
  const paths = new Map<ProjectKey, string>();
  for (const project of projects) {
    const { connection, name } = projectIdOf(project);
    paths.set(projectKey({ connection, name }), (await core.repositories.repository(connection, name)).path);
  }
  return paths;
}

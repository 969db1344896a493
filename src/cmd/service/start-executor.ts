import { createExecutor } from '../../executor/executor.ts';
import { createStoreBuilds } from '../../executor/store-builds.ts';
import { buildRequestCodec } from '../../model/codec/records.ts';
import { registerComponent } from '../../store/components.ts';
import { RequestQueue } from '../../store/request-queue.ts';
import { VERSION } from '../version.ts';
import type { Component, Core } from './core.ts';
import { providedRepositories } from './provided-repositories.ts';

export async function startExecutor(
  core: Core,
): Promise<Component & { readonly sandboxReport: string; readonly isolated: boolean }> {
  const store = core.session();
  const { executor: settings, merger } = core.settings;
  const log = core.log.child({ component: 'executor' });
  const queue = new RequestQueue({ store, path: core.paths.requests('build'), codec: buildRequestCodec });
  await queue.prepare();
  const executor = await createExecutor(
    {
      clock: core.clock,
      queue: createStoreBuilds(queue, {
        store,
        paths: core.paths,
        clock: core.clock,
        ids: core.ids,
        worker: core.host,
      }),
      repositories: providedRepositories(core),
      log,
    },
    {
      hostname: core.host,
      jobDir: settings.jobDir,
      logDir: settings.logDir,
      gitDir: merger.gitDir,
      sandbox: settings.sandbox,
      untrustedWithoutSandbox: settings.sandbox === 'none' || settings.allowUnsandboxed,
      allowHostNetwork: settings.allowHostNetwork,
      labels: settings.labels,
      maxBuilds: settings.maxBuilds,
      outputMaxBytes: settings.outputMaxBytes,
      diskLimitBytes: settings.diskLimitPerJob === undefined ? null : settings.diskLimitPerJob * 1_000_000,
      defaultTimeout: settings.defaultTimeout,
      path: process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
    },
  );
  await registerComponent(store, core.paths, 'executor', {
    host: core.host,
    version: VERSION,
    labels: settings.labels,
  });
  const ended = Promise.withResolvers<void>();
  return {
    name: 'executor',
    ended: ended.promise,
    notReady: () => undefined,
    sandboxReport: executor.sandboxReport,
    isolated: executor.isolated,
    async close() {
      await executor.stop('immediate');
      await store.close();
      ended.resolve();
    },
  };
}

/** Merger and executor components as a process has them: one store, one code host, several "machines". */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkerCore } from '../../../src/cmd/service/worker-core.ts';
import { createGit } from '../../../src/git/process/git.ts';
import { openRepositoryCache } from '../../../src/git/repository-cache.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { randomIds } from '../../../src/lib/ids.ts';
import type { Log } from '../../../src/lib/log.ts';
import type { BuildRequest } from '../../../src/model/build-request.ts';
import {
  buildRequestCodec,
  mergerRequestCodec,
  pipelineEventCodec,
  queueItemCodec,
} from '../../../src/model/codec/records.ts';
import type { PipelineEvent } from '../../../src/model/event.ts';
import type { MergerRequest } from '../../../src/model/merge.ts';
import type { QueueItem } from '../../../src/model/queue-item.ts';
import { parseSettings } from '../../../src/settings/parse-settings.ts';
import type { Settings } from '../../../src/settings/settings.ts';
import { openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { ensureNode } from '../../../src/store/ensure-node.ts';
import { EventQueue } from '../../../src/store/event-queue.ts';
import { storePaths } from '../../../src/store/paths.ts';
import { create, type Store } from '../../../src/store/port.ts';
import { RequestQueue } from '../../../src/store/request-queue.ts';
import { createGitRepository, type GitRepository } from '../../fake/git-repository.ts';
import { until } from '../executor/fixture.ts';

export type WorkerBench = Awaited<ReturnType<typeof openWorkerBench>>;

export interface Machine {
  readonly core: WorkerCore;
  /** The session the component was last given. */
  session(): Store;
  readonly warnings: readonly string[];
}

export async function openWorkerBench() {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-workers-'));
  // Users of jobs pass through; else builds would run in yet another place.
  await chmod(folder, 0o711);
  const stack = new AsyncDisposableStack();
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const server = stack.use(openEmbeddedStore({ file: ':memory:' }));
  const store = server.connect();
  const paths = storePaths();
  const clock = systemClock();
  const host: GitRepository = await createGitRepository(folder);
  const events = new EventQueue<PipelineEvent>({
    store,
    path: paths.pipeline('acme', 'gate').eventQueue,
    codec: pipelineEventCodec,
    clock,
  });
  await events.prepare();
  await ensureNode(store, paths.pipeline('acme', 'gate').items);
  const builds = new RequestQueue<BuildRequest>({
    store,
    path: paths.requests('build'),
    codec: buildRequestCodec,
  });
  const merges = new RequestQueue<MergerRequest>({
    store,
    path: paths.requests('merge'),
    codec: mergerRequestCodec,
  });
  await builds.prepare();
  await merges.prepare();

  return {
    folder,
    server,
    store,
    paths,
    host,
    builds,
    merges,
    /** @param options lines of `[executor]`; `git` is the name of its mirrors, `session` wraps what it gets. */
    async machine(
      name: string,
      options: { executor?: string; git?: string; paused?: boolean; session?: (behind: Store) => Store } = {},
    ): Promise<Machine> {
      const settings = settingsFor(folder, options.executor ?? '', options.git ?? 'git');
      const { merger } = settings;
      const git = createGit({ identity: { name: merger.gitUserName, email: merger.gitUserEmail } });
      const repositories = stack.use(
        await openRepositoryCache({ root: merger.gitDir, git, mergeTreeMode: 'unbuffered-coprocess' }),
      );
      const warnings: string[] = [];
      let session: Store | undefined;
      return {
        warnings,
        session: () => session ?? store,
        core: {
          settings,
          log: logInto(warnings),
          clock,
          ids: randomIds(),
          keyring: undefined,
          metrics: {
            record: () => undefined,
            forget: () => undefined,
            source: () => ({ [Symbol.dispose]: () => {} }),
          },
          host: name,
          paths,
          repositories,
          paused: options.paused ?? false,
          trouble: () => undefined,
          connections: new Map([['local', { remote: async () => ({ url: host.url }) }]]),
          async session() {
            session = (options.session ?? (behind => behind))(server.connect());
            return session;
          },
        },
      };
    },
    async storeItem(item: QueueItem): Promise<void> {
      await store.multi([
        create(paths.pipeline(item.tenant, item.pipeline).item(item.uuid), queueItemCodec.encode(item)),
      ]);
    },
    async results(): Promise<readonly Extract<PipelineEvent, { kind: 'build-result' }>[]> {
      return (await events.list()).flatMap(({ value }) => (value.kind === 'build-result' ? [value] : []));
    },
    started: async () =>
      (await events.list()).flatMap(({ value }) => (value.kind === 'build-started' ? [value] : [])),
    until,
    close: () => stack.disposeAsync(),
  };
}

function settingsFor(folder: string, executor: string, git: string): Settings {
  const content = Buffer.from(
    [
      `[scheduler]\ntenant_config = main.yaml\nstate_dir = ${folder}/state`,
      `[merger]\ngit_dir = ${folder}/${git}`,
      `[executor]\nsandbox = none\njob_dir = ${folder}/jobs\nlog_dir = ${folder}/logs\n${executor}\n`,
    ].join('\n'),
  );
  const parsed = parseSettings({ content, file: 'gatehouse.conf', directory: folder, environment: {} });
  if (parsed.kind === 'invalid') throw new Error(JSON.stringify(parsed.problems));
  return parsed.settings;
}

function logInto(warnings: string[]): Log {
  const log: Log = {
    debug: () => {},
    info: () => {},
    warn: (facts, text) => void warnings.push(`${text} ${JSON.stringify(facts)}`),
    error: (_facts, text) => void warnings.push(text),
    child: () => log,
  };
  return log;
}

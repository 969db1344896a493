import { mkdir } from 'node:fs/promises';
import { installedAnsibles } from '../../executor/ansible/installed-ansibles.ts';
import type { ExecutorOptions } from '../../executor/deps.ts';
import { createExecutor } from '../../executor/executor.ts';
import { lookAgain } from '../../executor/hosts/look-again.ts';
import { podNodes } from '../../executor/hosts/pod-nodes.ts';
import { HOSTS_ALONE, type NodeProviders } from '../../executor/hosts/reach-hosts.ts';
import { inboundTrace } from '../../executor/inbound-trace.ts';
import { type LogServer, startLogServer } from '../../executor/log-server.ts';
import type { RelayCounts } from '../../executor/relay/relay-quota.ts';
import { readSiteVariables } from '../../executor/site-variables.ts';
import { createStoreBuilds } from '../../executor/store-builds.ts';
import { createGit } from '../../git/process/git.ts';
import { openRepositoryCache, type RepositoryCache } from '../../git/repository-cache.ts';
import { startAside } from '../../git/starter/start-aside.ts';
import type { Log } from '../../lib/log.ts';
import { createWorkCount } from '../../lib/work-count.ts';
import type { Measurement } from '../../metrics/measurement.ts';
import { buildRequestCodec } from '../../model/codec/records.ts';
import { createKubeClients } from '../../nodes/kubernetes/kube-client.ts';
import { type PodSweepDeps, sweepPods } from '../../nodes/kubernetes/sweep-pods.ts';
import { installationId } from '../../store/installation.ts';
import type { Store } from '../../store/port.ts';
import { RequestQueue } from '../../store/request-queue.ts';
import type { Component } from './core.ts';
import { gitBounds } from './git-bounds.ts';
import { intakeGovernor, severalTroubles } from './intake-governor.ts';
import { type LogKeeping, startLogKeeping } from './log-keeping.ts';
import { countPlaybookHolders } from './playbook-holders.ts';
import { providedRepositories } from './provided-repositories.ts';
import { executorMeasurements } from './service-metrics.ts';
import type { WorkerCore } from './worker-core.ts';
import { workerRoom } from './worker-room.ts';
import { startGivingSigns } from './worker-signs.ts';

/** With what the executor found out about its sandbox when it started. */
export interface ExecutorComponent extends Component {
  readonly sandboxReport: string;
  readonly isolated: boolean;
}

/**
 * Takes requests when it returns, unless it is paused.
 *
 * @throws what prevents a start: a directory, the log server's port, the session.
 */
export async function startExecutor(core: WorkerCore): Promise<ExecutorComponent> {
  await using opening = new AsyncDisposableStack();
  const store = await core.session();
  opening.defer(() => store.close());
  const keystore = await core.keyring?.open(store, core.paths, core.clock);
  const { executor: settings } = core.settings;
  const log = core.log.child({ component: 'executor' });
  const work = createWorkCount();
  // Until its last build has ended.
  opening.defer(await startGivingSigns(core, store, log, 'builds', work));
  const queue = new RequestQueue({ store, path: core.paths.requests('build'), codec: buildRequestCodec });
  await queue.prepare();
  const repositories = await openRepositories(core, log, opening);
  const logServer = await openLogServer(core, log, opening);
  const worker = core.host;
  await mkdir(settings.logDir, { recursive: true });
  await mkdir(settings.jobDir, { recursive: true });
  const trouble = severalTroubles(['disk', 'sensor'], core.trouble);
  const disks = [settings.jobDir, settings.logDir, settings.gitDir];
  const room = workerRoom(disks, log, text => trouble('disk', text));
  const logs = opening.use(startLogKeeping(core, log));
  const governor = executorGovernor(core, logs, log, text => trouble('sensor', text));
  const holders = countPlaybookHolders();
  const nodes = await openNodeProviders(core, store, queue, log);
  const ansibles = await installedAnsibles(settings.ansibleRoot, log);
  const executor = await createExecutor(
    {
      clock: core.clock,
      queue: createStoreBuilds(queue, {
        ...{ store, paths: core.paths, clock: core.clock, ids: core.ids, worker, zone: settings.zone },
        onHeld: holders.onHeld,
      }),
      repositories: providedRepositories(core, store, repositories),
      ...{ log, room, providers: nodes.providers, holds: { store, paths: core.paths } },
      ...(keystore === undefined ? {} : { secretKeys: keystore, sshKeys: keystore, dataSeal: keystore }),
      work,
      onLogComplete: build => logs.keeper.add(build),
      onJobSpans: counts => core.metrics.record(jobSpanMeasurements(counts)),
    },
    { ...(await fullOptions(core, ansibles)), governor: governor.options },
  );
  opening.defer(() => executor.stop('immediate'));
  opening.use(core.metrics.source(() => executorMeasurements(core.host, executor, settings.maxBuilds)));
  opening.use(core.metrics.source(() => governor.measurements(core.host)));
  opening.use(core.metrics.source(() => holders.measurements(core.host)));
  opening.use(core.metrics.source(() => logs.measurements()));
  opening.defer(nodes.startCare());
  if (core.paused) executor.pause();
  const address = logServer?.address ?? null;
  const lifetime = opening.move();
  return {
    name: 'executor',
    ended: executor.ended,
    notReady: () => undefined,
    offers: {
      ...{ labels: settings.labels, address, walls: executor.walls },
      ...settings.zone,
      ...(ansibles.size === 0 ? {} : { ansibleVersions: [...ansibles.keys()] }),
    },
    sandboxReport: executor.sandboxReport,
    isolated: executor.isolated,
    pause: () => executor.pause(),
    resume: () => executor.resume(),
    async drain() {
      await executor.stop('graceful');
      await logs.drain();
    },
    close: () => lifetime.disposeAsync(),
  };
}

function executorGovernor(
  { settings: { executor, logStore } }: WorkerCore,
  { keeper }: LogKeeping,
  log: Log,
  publish: (trouble: string | undefined) => void,
): ReturnType<typeof intakeGovernor> {
  const limits = { ...executor, mostWaitingLogs: logStore?.mostWaiting };
  return intakeGovernor(limits, log, publish, () => keeper.waiting().bytes);
}

/** With what is read from files at the start. */
async function fullOptions(
  core: WorkerCore,
  ansibles: NonNullable<ExecutorOptions['ansibles']>,
): Promise<ExecutorOptions> {
  const { ansibleRoot, variables } = core.settings.executor;
  return {
    ...executorOptions(core),
    ansibles,
    readOnlyPaths: ansibleRoot === undefined || ansibles.size === 0 ? [] : [ansibleRoot],
    siteVariables: await readSiteVariables(variables),
  };
}

/** Of the nodes that builds are granted. `startCare`: of those out of service, and of what is left over; returns a function that stops it. */
async function openNodeProviders(
  { paths, clock, ids, settings }: WorkerCore,
  store: Store,
  requests: PodSweepDeps['requests'],
  log: Log,
): Promise<{ readonly providers: NodeProviders; startCare(): () => Promise<void> }> {
  const clients = createKubeClients();
  const installation = await installationId(store, paths, ids);
  const providers = { ...HOSTS_ALONE, pools: podNodes({ clock, installation, clients }) };
  const shared = { store, paths, log, zone: settings.executor.zone };
  return {
    providers,
    startCare: () =>
      stoppable(async signal => {
        await Promise.all([
          lookAgain({ ...shared, clock, providers }, signal),
          sweepPods({ ...shared, installation, clients, requests }, signal),
        ]);
      }),
  };
}

/** @returns a function that stops it, and waits for its end. */
function stoppable(work: (signal: AbortSignal) => Promise<void>): () => Promise<void> {
  const stop = new AbortController();
  const working = work(stop.signal);
  return async () => {
    stop.abort();
    await working;
  };
}

function jobSpanMeasurements({ taken, rejected }: RelayCounts): readonly Measurement[] {
  return [['taken', taken] as const, ...rejected].map(([outcome, value]) => ({
    metric: 'gatehouse_job_spans',
    labels: { outcome },
    value,
  }));
}

function executorOptions({ settings: { executor, store }, host }: WorkerCore): ExecutorOptions {
  return {
    hostname: host,
    jobDir: executor.jobDir,
    logDir: executor.logDir,
    gitDir: executor.gitDir,
    sandbox: executor.sandbox,
    untrustedWithoutSandbox: executor.sandbox === 'none' || executor.allowUnsandboxed,
    allowHostNetwork: executor.allowHostNetwork,
    relay: executor.otlpRelay,
    labels: executor.labels,
    inboundTrace: inboundTrace(process.env),
    maxBuilds: executor.maxBuilds,
    outputMaxBytes: executor.outputMaxBytes,
    diskLimitBytes: executor.diskLimitPerJob === undefined ? null : executor.diskLimitPerJob * 1_000_000,
    filesLimit: executor.filesLimitPerJob ?? null,
    logsLimitBytes: executor.logsLimitPerJob === undefined ? null : executor.logsLimitPerJob * 1_000_000,
    heldBytesLimit:
      executor.heldWorkspacesLimit === undefined ? null : executor.heldWorkspacesLimit * 1_000_000,
    memoryLimitBytes:
      executor.memoryLimitPerJob === undefined ? null : executor.memoryLimitPerJob * 1_000_000,
    maxProcesses: executor.processesLimitPerJob,
    defaultTimeout: executor.defaultTimeout,
    // With the embedded store, store, process and jobs end together.
    ...(store.kind === 'zookeeper' ? { silenceLimitSeconds: store.sessionTimeout } : {}),
    path: process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
  };
}

/** The merger's mirrors, unless the executor has its own. */
async function openRepositories(
  { settings: { executor, merger }, repositories }: WorkerCore,
  log: Log,
  opening: AsyncDisposableStack,
): Promise<RepositoryCache> {
  if (executor.gitDir === merger.gitDir) return repositories;
  // The merger's identity, so that merge commits made here get the same ids.
  const identity = { name: merger.gitUserName, email: merger.gitUserEmail };
  const git = createGit({ identity, ...gitBounds(merger), start: startAside });
  return opening.use(
    await openRepositoryCache({ root: executor.gitDir, git, warn: (facts, text) => log.warn(facts, text) }),
  );
}

async function openLogServer(
  { settings: { executor }, host }: WorkerCore,
  log: Log,
  opening: AsyncDisposableStack,
): Promise<LogServer | undefined> {
  if (executor.logServer === undefined) return undefined;
  return opening.use(
    await startLogServer({
      ...executor.logServer,
      logDir: executor.logDir,
      secret: executor.logToken,
      host,
      log,
    }),
  );
}

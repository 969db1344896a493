/** Runs one build in an executor that takes nothing else, and hands on its log as it is written. */
import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type {
  BuildQueue,
  BuildResultEvent,
  ExecutorOptions,
  Repositories,
  TakenBuild,
} from '../../executor/deps.ts';
import { createExecutor } from '../../executor/executor.ts';
import type { HostLease } from '../../executor/hosts/reach-hosts.ts';
import { logPathOf, readLogPart } from '../../executor/log-file.ts';
import type { ProjectKeysForSecrets } from '../../executor/playbook-secrets.ts';
import { readSiteVariables } from '../../executor/site-variables.ts';
import type { Clock } from '../../lib/clock.ts';
import { createDiskRoom } from '../../lib/disk-room.ts';
import { pause } from '../../lib/pause.ts';
import type { BuildRequest } from '../../model/build-request.ts';
import type { ExecutorSettings } from '../../settings/settings.ts';

/** What the build needs, and what becomes of it. */
export interface OneBuild {
  readonly request: BuildRequest;
  readonly repositories: Repositories;
  readonly secretKeys: ProjectKeysForSecrets;
  /** Limits and sandbox; its directories do not count. */
  readonly settings: ExecutorSettings;
  /** Exists; everything of the run lies below it. */
  readonly directory: string;
  readonly gitDir: string;
  /** `PATH` of the person. */
  readonly path: string;
  readonly clock: Clock;
  /** Hosts that its nodes are. Absent: each is this machine. */
  readonly lease?: Pick<HostLease, 'grant' | 'definitions'>;
  /** Cancels the build, which then cleans up. */
  readonly signal: AbortSignal;
  /** The next bytes of the log. */
  onLog(bytes: Uint8Array): Promise<void>;
}

/** Milliseconds between two looks at the log. */
const TICK = 50;
const PART = 262_144;

/** @throws SandboxUnavailable where `[executor] sandbox = bubblewrap` and it does not work. Error when a host is not as it should be. */
export async function runOneBuild(build: OneBuild): Promise<BuildResultEvent> {
  const { directory, request, clock, repositories, secretKeys } = build;
  const logDir = join(directory, 'logs');
  await mkdir(logDir);
  const ended = Promise.withResolvers<BuildResultEvent>();
  await using executor = await createExecutor(
    {
      ...{ clock, repositories, secretKeys, log: SILENT },
      queue: queueOf(build, ended),
      room: createDiskRoom([directory], { onChange: () => {} }),
    },
    { ...optionsOf(build, logDir), siteVariables: await readSiteVariables(build.settings.variables) },
  );
  const over = new AbortController();
  const showing = showLog(logPathOf(logDir, request.uuid), build, over.signal);
  try {
    return await Promise.race([ended.promise, executor.ended.then(() => ended.promise)]);
  } finally {
    over.abort();
    await showing;
  }
}

const SILENT = { info() {}, warn() {}, child: () => SILENT_LOG };
const SILENT_LOG = { debug() {}, info() {}, warn() {}, error() {}, child: () => SILENT_LOG };

function optionsOf({ settings, directory, gitDir, path }: OneBuild, logDir: string): ExecutorOptions {
  return {
    ...{ hostname: hostname(), jobDir: join(directory, 'jobs'), logDir, gitDir, path },
    sandbox: settings.sandbox,
    // It is the person's own code, on their own machine.
    untrustedWithoutSandbox: true,
    allowHostNetwork: settings.allowHostNetwork,
    labels: settings.labels,
    maxBuilds: 1,
    outputMaxBytes: settings.outputMaxBytes,
    diskLimitBytes: settings.diskLimitPerJob === undefined ? null : settings.diskLimitPerJob * 1_000_000,
    filesLimit: settings.filesLimitPerJob ?? null,
    memoryLimitBytes:
      settings.memoryLimitPerJob === undefined ? null : settings.memoryLimitPerJob * 1_000_000,
    maxProcesses: settings.processesLimitPerJob,
    defaultTimeout: settings.defaultTimeout,
  };
}

/** Has the one request, whether or not the executor accepts it: every node of it is this machine. */
function queueOf(
  { request, signal, lease }: OneBuild,
  { resolve, reject }: Pick<PromiseWithResolvers<BuildResultEvent>, 'resolve' | 'reject'>,
): BuildQueue {
  const handBack: HostLease['handBack'] = async failures =>
    reject(new Error(failures.map(({ host, reason }) => `host ${host}: ${reason}`).join('; ')));
  const refuse: HostLease['refuse'] = async reason => reject(new Error(reason));
  const taken: TakenBuild = {
    request,
    ...(lease === undefined ? {} : { lease: { ...lease, handBack, refuse } }),
    cancelled: signal,
    lost: new AbortController().signal,
    cancelledAt: () => undefined,
    report: async () => undefined,
    // Nothing that depends on it is run here.
    resumed: async () => undefined,
    hold: async () => ({ release: async () => undefined }),
    findHold: async () => undefined,
    watchedTests: async () => [],
    watchTests: async () => {},
    async complete(event) {
      resolve(event);
      return 'whole';
    },
  };
  let isTaken = false;
  return {
    async take(_accepts, stopped) {
      if (!isTaken) {
        isTaken = true;
        return taken;
      }
      await pause(Number.POSITIVE_INFINITY, stopped);
      return undefined;
    },
  };
}

/** Until the log is complete, or the build is over and what was written is shown. */
async function showLog(path: string, { onLog }: OneBuild, over: AbortSignal): Promise<void> {
  for (let offset = 0; ; ) {
    const isOver = over.aborted;
    const part = await readLogPart(path, offset, PART);
    if (part !== undefined && part.bytes.length > 0) {
      offset = part.next;
      await onLog(part.bytes);
      continue;
    }
    if (part?.complete === true || isOver) return;
    await pause(TICK, over);
  }
}

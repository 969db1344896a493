/** A real executor on real repositories and processes; only its queue and the service around it are small. */

import { chmod, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type {
  BuildEvent,
  BuildResultEvent,
  ExecutorDeps,
  ExecutorOptions,
  HostsAfter,
  TakenBuild,
} from '../../../src/executor/deps.ts';
import { createExecutor, type Executor } from '../../../src/executor/executor.ts';
import { logPathOf } from '../../../src/executor/log-file.ts';
import { parseObjectId } from '../../../src/git/objects/object-id.ts';
import { createTreeSizes } from '../../../src/git/objects/tree-size.ts';
import { type Nanoseconds, systemClock } from '../../../src/lib/clock.ts';
import { createDiskRoom, type DiskRoom } from '../../../src/lib/disk-room.ts';
import { randomIds, spanIdOf, traceIdOf } from '../../../src/lib/ids.ts';
import { unlessAborted } from '../../../src/lib/unless-aborted.ts';
import type { BuildPlaybook, BuildProject, BuildRequest } from '../../../src/model/build-request.ts';
import type { FrozenJob } from '../../../src/model/job.ts';
import { type ProjectKey, parseCommitId, projectKey } from '../../../src/model/project.ts';
import type { SpanRecord } from '../../../src/model/span.ts';
import { createGitRepository, type GitRepository } from '../../fake/git-repository.ts';
import { emptyFrozenJob } from '../../fake/records.ts';
import { SILENT } from '../../fake/silent-log.ts';
import { type OpenRepository, openRepository } from '../git/open-repository.ts';

const ids = randomIds();
export const PROJECT = projectKey({ connection: 'local', name: 'acme/app' });
export const CANONICAL = 'git.example.org/acme/app';

export interface Ended {
  readonly result: BuildResultEvent;
  /** Of the job's own. */
  readonly spans: readonly SpanRecord[];
  readonly events: readonly BuildEvent[];
  readonly log: string;
}

interface Submitted {
  readonly request: BuildRequest;
  readonly ended: Promise<Ended>;
  cancel(): void;
  /** The claim is gone. */
  lose(): void;
  /** What depends on it has ended. */
  resume(): void;
  /** Resolves with the log once it holds `text`. */
  logHolds(text: string): Promise<string>;
}

export interface Bench extends AsyncDisposable {
  readonly executor: Executor;
  readonly folder: string;
  readonly repository: GitRepository;
  readonly warnings: string[];
  /** Bare repositories of further projects. */
  readonly mirrors: Map<ProjectKey, string>;
  /** Commits executable scripts (and other files) on `main`. @returns the commit. */
  commit(scripts: Readonly<Record<string, string>>): Promise<string>;
  /** @param store stands for the store that takes the build's events; default: they are stored at once. */
  submit(request: BuildRequest, store?: (event: BuildEvent) => Promise<void>): Submitted;
}

/** Requests to hold workspaces. */
export interface HoldBook {
  readonly records: NonNullable<ExecutorDeps['holds']>;
  find(request: BuildRequest): ReturnType<TakenBuild['findHold']>;
  /** Before the result of a build is known to the test. */
  complete(request: BuildRequest, after: HostsAfter | undefined): Promise<void>;
}

export type Scripts = {
  readonly preRun?: readonly string[];
  readonly run?: readonly string[];
  readonly postRun?: readonly string[];
};

/** A request for the scripts of one commit of the fixture's project. */
export function buildRequest(
  commit: string,
  scripts: Scripts,
  changes: Partial<BuildRequest> & { readonly jobFacts?: Partial<FrozenJob> } = {},
): BuildRequest {
  const { jobFacts, ...rest } = changes;
  const uuid = ids.uuid();
  const item = ids.uuid();
  const playbook = (path: string): BuildPlaybook => ({
    project: PROJECT,
    branch: 'main',
    path,
    trusted: false,
    commit: parseCommitId(commit),
    canonicalName: CANONICAL,
  });
  const phases = {
    preRun: (scripts.preRun ?? []).map(playbook),
    run: (scripts.run ?? []).map(playbook),
    postRun: (scripts.postRun ?? []).map(playbook),
  };
  const job = emptyFrozenJob({ ...phases, vars: { greeting: 'hello' }, ...jobFacts });
  return {
    uuid,
    tenant: 'acme',
    pipeline: 'gate',
    item,
    buildset: ids.uuid(),
    job,
    jobName: job.name,
    attempt: 1,
    requestedAt: systemClock().now(),
    priority: 200,
    projects: [projectAt(commit)],
    playbooks: phases,
    zuul: {
      project: { name: 'acme/app', canonical_name: CANONICAL },
      branch: 'main',
      change: '12',
      build: uuid,
    },
    trace: { traceId: traceIdOf(item), buildSpan: spanIdOf(uuid), sampled: true, event: null },
    ...rest,
  };
}

export function projectAt(commit: string, facts: Partial<BuildProject> = {}): BuildProject {
  return {
    project: PROJECT,
    canonicalName: CANONICAL,
    branch: 'main',
    commit: parseCommitId(commit),
    required: true,
    ...facts,
  };
}

export async function openBench(
  options: Partial<ExecutorOptions> = {},
  places: {
    readonly folder?: string;
    readonly room?: DiskRoom;
    readonly secretKeys?: ExecutorDeps['secretKeys'];
    readonly sshKeys?: ExecutorDeps['sshKeys'];
    readonly dataSeal?: ExecutorDeps['dataSeal'];
    readonly holds?: HoldBook;
  } = {},
): Promise<Bench> {
  const folder = places.folder ?? (await mkdtemp(join(tmpdir(), 'gatehouse-executor-')));
  const gitDir = join(folder, 'git');
  await mkdir(gitDir, { recursive: true });
  const repository = await createGitRepository(gitDir);
  // The fake makes its repository in a private directory; a cache's are as open as the umask says.
  await chmod(dirname(repository.path), 0o755);
  const queue = createTestQueue(options.logDir ?? join(folder, 'logs'), places.holds);
  const warnings: string[] = [];
  const mirrors = new Map<ProjectKey, string>();
  const sizes = openSizes();
  const opening = createExecutor(
    {
      clock: systemClock(),
      queue,
      repositories: {
        provide: async ({ project }) => ({
          kind: 'ready',
          gitDir: mirrors.get(project) ?? repository.path,
        }),
        checkoutSize: (project, commit) => sizes.of(mirrors.get(project) ?? repository.path, commit),
        fileLines: async () => undefined,
        commitMessage: async () => undefined,
      },
      log: logInto(warnings),
      room: places.room ?? createDiskRoom([folder], { onChange: () => {} }),
      ...(places.secretKeys === undefined ? {} : { secretKeys: places.secretKeys }),
      ...(places.sshKeys === undefined ? {} : { sshKeys: places.sshKeys }),
      ...(places.dataSeal === undefined ? {} : { dataSeal: places.dataSeal }),
      ...(places.holds === undefined ? {} : { holds: places.holds.records }),
    },
    {
      hostname: 'executor1',
      jobDir: join(folder, 'jobs'),
      logDir: join(folder, 'logs'),
      gitDir,
      sandbox: 'none',
      labels: [],
      maxBuilds: 2,
      outputMaxBytes: 1_000_000,
      diskLimitBytes: null,
      defaultTimeout: 60,
      graceSeconds: 1,
      path: process.env.PATH ?? '/usr/bin:/bin',
      ...options,
    },
  );
  const executor = await opening.catch(async error => {
    await sizes[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
    throw error;
  });
  return {
    executor,
    folder,
    repository,
    warnings,
    mirrors,
    commit: files => repository.commit({ files, isScript: name => name.endsWith('.sh') }),
    submit: (request, store) => queue.submit(request, store),
    async [Symbol.asyncDispose]() {
      await executor.stop('immediate');
      await sizes[Symbol.asyncDispose]();
      for (const place of [executor.jobDir, folder]) await rm(place, { recursive: true, force: true });
    },
  };
}

/** As a service has them: each repository is opened once. */
function openSizes() {
  const open = new Map<string, OpenRepository & { readonly sizeOf: ReturnType<typeof createTreeSizes> }>();
  return {
    async of(gitDir: string, commit: string) {
      let repository = open.get(gitDir);
      if (repository === undefined) {
        const opened = openRepository(gitDir);
        repository = { ...opened, sizeOf: createTreeSizes(opened.reader) };
        open.set(gitDir, repository);
      }
      return await repository.sizeOf((await repository.reader.commit(parseObjectId(commit))).tree);
    },
    async [Symbol.asyncDispose]() {
      for (const repository of open.values()) await repository[Symbol.asyncDispose]();
    },
  };
}

interface Waiting {
  readonly taken: TakenBuild;
}

function createTestQueue(logDir: string, holds: HoldBook | undefined) {
  const waiting: Waiting[] = [];
  let wake: (() => void) | undefined;

  return {
    async take(
      accepts: (request: BuildRequest, hasHosts: boolean) => boolean,
      signal: AbortSignal,
    ): Promise<TakenBuild | undefined> {
      for (;;) {
        if (signal.aborted) return undefined;
        const index = waiting.findIndex(({ taken }) => accepts(taken.request, false));
        const [found] = index < 0 ? [] : waiting.splice(index, 1);
        if (found !== undefined) return found.taken;
        await new Promise<void>(resolve => {
          wake = resolve;
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
      }
    },
    submit(request: BuildRequest, store = async (_: BuildEvent) => {}): Submitted {
      const cancelled = new AbortController();
      const lost = new AbortController();
      const events: BuildEvent[] = [];
      let cancelledAt: Nanoseconds | undefined;
      const { promise, resolve } = Promise.withResolvers<Ended>();
      const resumed = Promise.withResolvers<void>();
      const path = logPathOf(logDir, request.uuid);
      waiting.push({
        taken: {
          request,
          cancelled: cancelled.signal,
          lost: lost.signal,
          resumed: async ended => void (await unlessAborted(() => resumed.promise, ended)),
          hold: async () => ({ release: async () => {} }),
          findHold: async () => await holds?.find(request),
          watchedTests: async () => [],
          watchTests: async () => {},
          cancelledAt: () => cancelledAt,
          async report(event) {
            await store(event);
            events.push(event);
          },
          complete: async (result, spans, hosts) => {
            await holds?.complete(request, hosts);
            resolve({ result, spans, events, log: await readFile(path, 'utf8').catch(() => '') });
            return 'whole';
          },
        },
      });
      wake?.();
      return {
        request,
        ended: promise,
        cancel: () => {
          cancelledAt = systemClock().now();
          cancelled.abort();
        },
        lose: () => lost.abort(),
        resume: () => resumed.resolve(),
        logHolds: text =>
          until(async () => {
            const log = await readFile(path, 'utf8').catch(() => '');
            return log.includes(text) ? log : undefined;
          }, `the log to hold ${text}`),
      };
    },
  };
}

/** Awaits a condition with a deadline. */
export async function until<T>(
  look: () => Promise<T | undefined> | T | undefined,
  what: string,
  deadlineMs = 60_000,
): Promise<T> {
  const end = performance.now() + deadlineMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > end) throw new Error(`waited ${deadlineMs} ms for ${what}`);
    await new Promise(resolve => setTimeout(resolve, 10));
  }
}

export const script = (body: string): string => `#!/bin/sh\n${body}\n`;

/** Warnings only, of any part. */
function logInto(warnings: string[]): ExecutorDeps['log'] {
  const log: ExecutorDeps['log'] = {
    info: () => undefined,
    warn: (_facts, text) => void warnings.push(text),
    child: () => ({ ...SILENT, ...log }),
  };
  return log;
}

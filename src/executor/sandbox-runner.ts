/** The runner of this machine: playbooks are processes in the sandbox, started by the spawner, in control groups where it has some. */
import { join } from 'node:path';
import type { Clock, Nanoseconds } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { type BuildPlaces, makePlaces } from './build-places.ts';
import type { BuildSteps } from './build-steps.ts';
import type { BuildCgroup } from './cgroup/build-cgroups.ts';
import { diskCheckSecondsOf, type ExecutorOptions, maxProcessesOf, type Repositories } from './deps.ts';
import { createDiskUsage, type DiskUsage, watchDisk } from './disk-usage.ts';
import { endCgroup } from './end-cgroup.ts';
import type { OwnProcesses } from './git-process.ts';
import { holdWorkspace, type LeftWorkspace, type WorkspaceHold } from './held/hold-workspace.ts';
import { sshConfigPath, systemSshConfig } from './hosts/ssh-files.ts';
import { playbookEnvironment, workingDirectory } from './job-environment.ts';
import { createKeptCheckouts } from './kept-checkout.ts';
import type { NextStage } from './next-stage.ts';
import { createRemovals, type Removals } from './removals.ts';
import { renameAway } from './remove-build.ts';
import type { ReportedSteps } from './reported-steps.ts';
import { type ReturnedText, readResultFile } from './returned/result-file.ts';
import type { EndedProcess, PlaybookRun, Runner, RunnerBuild, RunningPlaybook } from './runner.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import { removeSecretFile, secretFileText, writeSecretFile } from './secret-file.ts';
import type { RunningProcess, Spawner } from './spawner/spawner.ts';
import { AGENT_SOCKET } from './ssh-agent/build-agent.ts';
import { takeStepFile } from './step-file.ts';
import { prepareWorkspace, tamperedPlace, type Workspace, type WorkspaceDeps } from './workspace.ts';

/** Opened by `createExecutor`; they outlive the runner, which closes none of them. */
export interface SandboxRunnerDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly options: ExecutorOptions;
  readonly repositories: Repositories;
  readonly spawner: Spawner;
  readonly sandbox: Sandbox;
  readonly own: OwnProcesses;
  /** Where the next playbook starts. */
  readonly next: NextStage;
}

/** One per executor: it owns the kept checkouts and the deletions that continue after builds. */
export function createSandboxRunner(deps: SandboxRunnerDeps): Runner {
  return new SandboxRunner(deps);
}

const DEFAULT_GRACE_SECONDS = 10;
const OPEN_FILES = 4096;
/** Process limit above that of the group, so that the group, which counts its refusals, is reached first. */
const BEYOND_GROUP = 64;
const KEPT_BUILDS = 4;

class SandboxRunner implements Runner {
  readonly #deps: SandboxRunnerDeps;
  readonly #diskUsage: DiskUsage;
  readonly #workspace: WorkspaceDeps;
  readonly #removals: Removals;
  #holding: Promise<unknown> = Promise.resolve();

  constructor(deps: SandboxRunnerDeps) {
    const { sandbox, own, options, repositories, spawner } = deps;
    this.#deps = deps;
    this.#diskUsage = createDiskUsage(spawner);
    this.#removals = createRemovals(own);
    this.#workspace = {
      ...{ repositories, sandbox, own },
      kept: createKeptCheckouts(join(sandbox.jobDir, '.kept'), own, keptBytes(options)),
      checkoutBytes: options.diskLimitBytes,
    };
  }

  get report() {
    return this.#deps.sandbox.report;
  }

  get isolated() {
    return this.#deps.sandbox.isolated;
  }

  get jobDir() {
    return this.#deps.sandbox.jobDir;
  }

  view(places: BuildPlaces) {
    return this.#deps.sandbox.view(places);
  }

  ownerOf(slot: number) {
    return this.#deps.sandbox.ownerOf(slot);
  }

  async prepare({ request, places, slot }: RunnerBuild, steps: BuildSteps): Promise<Workspace> {
    const { sandbox } = this.#deps;
    await steps.run(
      'JobSetup',
      'directories',
      async () => makePlaces(places, sandbox.ownerOf(slot), sandbox.view(places).work),
      () => ({}),
    );
    return prepareWorkspace(this.#workspace, request, places, slot, steps);
  }

  async tampered({ places, request }: RunnerBuild, workspace: Workspace): Promise<string | undefined> {
    const own = join(places.work, workingDirectory(request, { work: '.' }));
    return tamperedPlace(places, [own, ...workspace.overlays.map(({ at }) => at)]);
  }

  async start(build: RunnerBuild, workspace: Workspace, run: PlaybookRun): Promise<RunningPlaybook> {
    const { spawner, clock } = this.#deps;
    const { cgroup, stage } = await this.#deps.next.take();
    const secretFile = this.#placeSecrets(build, run);
    const startedAt = clock.now();
    const { script, ...spec } = this.#spec(build, workspace, run, cgroup !== null);
    if (script === undefined) stage?.discard();
    const process = spawner.start(
      {
        ...spec,
        ...(cgroup === null ? {} : { cgroups: cgroup.groups }),
        ...(script === undefined || stage === undefined ? {} : { staged: { stage: stage.id, script } }),
      },
      build.relay?.serve,
      run.onMatch,
    );
    this.#deps.next.prepare();
    const ended = this.#ended(build, process, cgroup).finally(() => {
      if (secretFile !== undefined) removeSecretFile(secretFile);
    });
    return { startedAt, stop: mode => process.stop(mode), ended };
  }

  collect(
    { places }: RunnerBuild,
    run: Pick<PlaybookRun, 'budget'>,
    at: Nanoseconds,
  ): Promise<ReportedSteps> {
    return takeStepFile(places.work, run.budget, at);
  }

  returned({ work }: BuildPlaces): Promise<ReturnedText> {
    return readResultFile(work);
  }

  async holdWorkspace(build: RunnerBuild, workspace: Workspace, request: string): Promise<WorkspaceHold> {
    const { sandbox, own, options } = this.#deps;
    const { places, halt, masks } = build;
    const deps = { own, jobDir: this.jobDir, mostBytes: options.heldBytesLimit ?? null };
    const left: LeftWorkspace = {
      ...{ places, workspace, owner: sandbox.ownerOf(build.slot), masks: masks.list(), signal: halt.signal },
      name: { request, build: build.request.uuid },
    };
    // One after the other: each measures what is held.
    const holding = this.#holding.then(() => holdWorkspace(deps, left));
    this.#holding = holding;
    return await holding;
  }

  async remove({ root }: Pick<BuildPlaces, 'root'>, log: Pick<Log, 'warn'>): Promise<void> {
    try {
      this.#removals.add(await renameAway(this.jobDir, root), log);
    } catch (error) {
      // A build that was refused never got a directory.
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    }
  }

  idle(): Promise<void> {
    return this.#removals.idle();
  }

  async #ended(
    build: RunnerBuild,
    process: RunningProcess,
    cgroup: BuildCgroup | null,
  ): Promise<EndedProcess> {
    const { sandbox, options } = this.#deps;
    const watching = new AbortController();
    const diskExcess = this.#watchDisk(build, process, watching.signal);
    // Awaited by the caller when the process has ended; a spawner that closes before that must not end the service.
    diskExcess.catch(() => undefined);
    const ended = await process.ended;
    watching.abort();
    const limited = cgroup === null ? undefined : await endCgroup({ log: build.log, options }, cgroup);
    build.relay?.hangUp(sandbox.ownLoopback(build.request.job));
    return { process: ended, limited, diskExcess };
  }

  /** Without a sandbox: a file of memory. @returns its path; undefined: there is none. */
  #placeSecrets({ places, slot }: RunnerBuild, { secrets, reader }: PlaybookRun): string | undefined {
    const { sandbox } = this.#deps;
    if (secrets === undefined || sandbox.isolated) return undefined;
    const { secrets: path } = sandbox.view(places);
    writeSecretFile(path, secretFileText(secrets, reader), sandbox.ownerOf(slot));
    return path;
  }

  #spec(build: RunnerBuild, workspace: Workspace, run: PlaybookRun, grouped: boolean) {
    const { sandbox, options } = this.#deps;
    const { request, places, slot, log, relay } = build;
    const view = sandbox.view(places);
    const { failureOutput } = request.job;
    const watched = run.onMatch === undefined || failureOutput === undefined ? {} : { failureOutput };
    const launch = sandbox.job(
      {
        places,
        overlays: workspace.overlays,
        readOnly: [...workspace.readOnly, ...sshConfigOf(build)],
        argv: run.argv,
        environment: {
          ...(request.trace === null ? options.inboundTrace : {}),
          ...playbookEnvironment(request, view, run),
          ...run.environment,
          ...(run.secrets === undefined || run.reader !== 'script'
            ? {}
            : { ZUUL_SECRETS_FILE: view.secrets }),
          ...(build.sshAgent === undefined ? {} : { SSH_AUTH_SOCK: join(view.info, AGENT_SOCKET) }),
          ...(build.hosts === undefined ? {} : { GATEHOUSE_SSH_CONFIG: sshConfigPath(view.info) }),
          ...relay?.environment(sandbox.ownLoopback(request.job)),
        },
        cwd: workingDirectory(request, view),
        network: request.job.network,
        listen: relay !== null,
        secrets: run.secrets === undefined ? null : secretFileText(run.secrets, run.reader),
        limits: {
          processes: maxProcessesOf(options) + (grouped ? BEYOND_GROUP : 0),
          openFiles: OPEN_FILES,
          fileBytes: options.diskLimitBytes,
        },
        mark: request.uuid,
      },
      sandbox.ownerOf(slot),
    );
    return {
      ...launch,
      output: { kind: 'log', path: log.path, limit: log.remaining(), masks: build.masks.list(), ...watched },
      timeoutMs: run.timeoutMs,
      graceMs: (options.graceSeconds ?? DEFAULT_GRACE_SECONDS) * 1000,
    } as const;
  }

  /** @returns the limit the build exceeded, during the playbook or at its end. */
  async #watchDisk(
    { places, halt }: RunnerBuild,
    process: RunningProcess,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { options } = this.#deps;
    const limits = { bytes: options.diskLimitBytes, files: options.filesLimit ?? null };
    if (limits.bytes === null && limits.files === null) return undefined;
    const seconds = diskCheckSecondsOf(options);
    let full: string | undefined;
    await watchDisk(this.#diskUsage, places, { ...limits, seconds }, signal, excess => {
      full = excess;
      process.stop('immediate');
    });
    if (full !== undefined) return full;
    await process.ended;
    // The caller that stops the build does not wait for the answer, and the executor may be gone before it arrives.
    return halt.signal.aborted ? undefined : this.#diskUsage.excess(places, limits);
  }
}

function sshConfigOf({ hosts, places }: RunnerBuild): Workspace['readOnly'] {
  return hosts === undefined ? [] : [{ from: systemSshConfig(places.info), to: '/etc/ssh/ssh_config' }];
}

/** Per slot: the checkouts of a few builds. */
function keptBytes({ diskLimitBytes }: ExecutorOptions): number {
  return diskLimitBytes === null ? Number.POSITIVE_INFINITY : KEPT_BUILDS * diskLimitBytes;
}

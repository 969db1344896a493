/**
 * Takes build requests, runs each in a workspace of its own, and reports its result.
 *
 *     const executor = await createExecutor({ clock, queue, repositories, log }, options);
 *     …
 *     executor.pause();                   // takes nothing until resume()
 *     await executor.stop('graceful');    // takes nothing new, lets running builds end
 *     await executor.stop('immediate');   // kills them; they are tried again elsewhere
 *
 * The stages of a build, and the files of this room in the order of reading:
 *
 *     take-builds.ts       claims a request for a free slot (build-slots; governor/: not while the machine has enough to do; deps.ts: what the executor needs; store-builds.ts: the store's side)
 *     execute-build.ts     its start event, its log, its result, or nothing at all when the claim was lost (build-events, halt)
 *     run-build.ts         workspace, plan, phases, outcome (plan-playbooks, resolve-playbook, include-vars, job-environment, host-variables, build-steps,
 *                          site-variables, split-trace, inbound-trace, change-messages)
 *     run-phases.ts        the playbooks in their order, and pause-build.ts between run and post-run
 *     run-playbook.ts      one playbook and its verdict (judge-playbook, outcome)
 *     playbook-semaphores.ts    what one playbook holds while it runs
 *     playbook-secrets.ts  what one playbook gets decrypted, and secret-file.ts, how it sees it
 *     runner.ts            the contract of the place where playbooks run; sandbox-runner.ts is this machine's
 *     workspace.ts         the checkouts (checkout, kept-checkout, checkout-room, obtain-commit, commit-origin, borrow-access,
 *                          git-process, give-to-service)
 *     step-file.ts         the steps a playbook reports (reported-steps, time-step; open-plain-file)
 *     job-log.ts           the build's log (log-file, log-server, log-client, log-access, prune-logs); log-store/: logs that ended, packed or in a bucket, and what jobs leave besides
 *     held/                workspaces of failed builds that a person asked to keep: made whole, moved aside, removed when the hold ends
 *     build-places.ts      the build's directory (claim-job-dir, process-identity, sweep, remove-build, removals)
 *     walls.ts             the limits in force (disk-usage, small-usage, end-cgroup, and the folder cgroup/); next-stage.ts: what the next playbook starts in
 *
 *     spawner/ starts processes in a small helper process · sandbox/ isolates them · cgroup/ limits them · relay/ takes their
 *     spans · returned/ is what they return · test-reports/ reads what they say about tests · ssh-agent/ signs with the key of their project · ansible/ and job-tools/ are what they find
 *
 * Only `spawner/` starts processes, and nothing here reads the store but `store-builds.ts`.
 *
 * Several executors of a machine may share `job_dir` and `git_dir` (`claim-job-dir.ts`). After `stop` nothing of this one remains:
 * no process, no listener, no claim on a directory; another one may be created in the same process.
 */
import { pause } from '../lib/pause.ts';
import { createWorkGate } from '../lib/work-gate.ts';
import { type Wall, wallText } from '../model/wall.ts';
import { type RunningBuild, slotsWithUsers } from './build-slots.ts';
import { openExecutorCgroups } from './cgroup/executor-cgroups.ts';
import { claimJobDir } from './claim-job-dir.ts';
import { diskCheckSecondsOf, type ExecutorDeps, type ExecutorOptions, maxProcessesOf } from './deps.ts';
import { executeBuild, type Machinery } from './execute-build.ts';
import { createOwnProcesses } from './git-process.ts';
import { careForHeld } from './held/held-care.ts';
import { endLog } from './job-log.ts';
import { logPathOf } from './log-file.ts';
import { createNextStage } from './next-stage.ts';
import { startRelay } from './relay/relay.ts';
import { claimJobUsers, type JobUsers } from './sandbox/job-users.ts';
import { openSandbox } from './sandbox/open-sandbox.ts';
import { createSandboxRunner } from './sandbox-runner.ts';
import { prepareSecretFiles, removeSecretFiles } from './secret-file.ts';
import type { StopMode } from './spawner/protocol.ts';
import { createSpawner } from './spawner/spawner.ts';
import { sweepLeftovers } from './sweep.ts';
import { takeBuilds } from './take-builds.ts';
import { createTestReader } from './test-reports/test-reader.ts';
import { wallsOf } from './walls.ts';

/** A running executor, made by {@link createExecutor}; disposing of it is an `immediate` stop. */
export interface Executor extends AsyncDisposable {
  /** One line: what isolates jobs here, or that nothing does and why. */
  readonly sandboxReport: string;
  /** False: jobs run without a sandbox, and untrusted playbooks only where that is allowed. */
  readonly isolated: boolean;
  /** The limits and isolation its jobs run under. */
  readonly walls: readonly Wall[];
  /** Actual place of build directories, see `Sandbox.jobDir`. */
  readonly jobDir: string;
  /** Resolves after `stop`; rejects when no more builds can be taken because the store session is over. */
  readonly ended: Promise<void>;
  /** Builds running now, those that pause among them. */
  running(): readonly RunningBuild[];
  /** Takes no builds until `resume`; running ones go on. */
  pause(): void;
  resume(): void;
  /**
   * Resolves when no build runs, everything is cleaned up and the helper processes have ended. May be called again with a harder
   * mode. Never fails because the store is unreachable.
   */
  stop(mode: StopMode): Promise<void>;
}

/**
 * Milliseconds killed builds have to store their results: without contact to the store they never can, and an `immediate` stop
 * must not wait for that. Their claims end with the session, so the builds are tried again anyway.
 */
const HAND_OVER_MS = 3_000;

/** @throws SandboxUnavailable see `openSandbox`. */
export async function createExecutor(deps: ExecutorDeps, options: ExecutorOptions): Promise<Executor> {
  await using opening = new AsyncDisposableStack();
  // Released last, when nothing works there any more.
  const claimed = await claimJobDir(options.jobDir);
  opening.defer(() => claimed.release());
  const spawner = createSpawner({
    onCrash: reason =>
      deps.log.warn({ reason }, 'the process that starts jobs died; its builds are tried again'),
    ...(options.silenceLimitSeconds === undefined
      ? {}
      : { silenceLimitMs: options.silenceLimitSeconds * 1000 }),
  });
  opening.defer(() => spawner.close());
  const { oomScoreProblem } = await spawner.ready();
  const relay =
    options.relay === undefined || options.relay === null ? null : await startRelay(options.relay, deps);
  if (relay !== null) opening.use(relay);
  const userCount = slotsWithUsers(options.maxBuilds);
  const users = await openUsers(claimed.path, userCount, deps);
  if (users !== undefined) opening.defer(() => users.release());
  const sandbox = await openSandbox({
    mode: options.sandbox,
    jobDir: claimed.path,
    gitDir: options.gitDir,
    path: options.path,
    readOnlyPaths: options.readOnlyPaths ?? [],
    firstUser: users?.first ?? null,
    userCount,
    listen: relay !== null,
    spawner,
  });
  deps.log[sandbox.isolated ? 'info' : 'warn']({ isolated: sandbox.isolated }, sandbox.report);
  const own = createOwnProcesses(spawner, sandbox);
  const { removed, inUse } = await sweepLeftovers(sandbox.jobDir, own);
  if (!sandbox.isolated) {
    prepareSecretFiles(sandbox.jobDir);
    opening.defer(() => removeSecretFiles(sandbox.jobDir));
  }
  const facts = { jobDir: sandbox.jobDir };
  for (const build of removed) await endLog(logPathOf(options.logDir, build), deps.clock);
  if (removed.length > 0)
    deps.log.info({ ...facts, builds: removed }, 'removed leftovers of builds of an earlier run');
  if (inUse.length > 0)
    deps.log.warn(
      { ...facts, builds: inUse },
      'another executor runs builds in the same directory; give each its own [executor] job_dir',
    );
  const limits = {
    memory: options.memoryLimitBytes ?? null,
    processes: maxProcessesOf(options),
  };
  const pids = [process.pid, spawner.pid() ?? process.pid];
  const cgroups = await openExecutorCgroups(sandbox.jobDir, pids, limits);
  const walls = wallsOf({
    ...{ sandbox, cgroups, limits, oomScoreProblem },
    diskBytes: options.diskLimitBytes,
    files: options.filesLimit ?? null,
    seconds: diskCheckSecondsOf(options),
  });
  const others = walls.filter(wall => !sandbox.walls.includes(wall));
  deps.log.info({}, `limits: ${others.map(wallText).join('; ')}`);
  const tests = createTestReader();
  opening.use(tests);
  const next = opening.use(createNextStage(spawner, sandbox, cgroups));
  const lifetime = opening.move();
  const { clock, repositories } = deps;
  const runner = createSandboxRunner({ clock, repositories, options, spawner, sandbox, own, next });
  return startExecutor(deps, options, { runner, relay, tests, walls, lifetime });
}

/** Undefined: the service is not root, jobs are its own user. */
async function openUsers(
  jobDir: string,
  count: number,
  { log }: Pick<ExecutorDeps, 'log'>,
): Promise<JobUsers | undefined> {
  if (process.geteuid?.() !== 0) return undefined;
  const users = await claimJobUsers(jobDir, count);
  if (!users.exclusive)
    log.warn(
      { firstUser: users.first },
      'no Unix users for jobs are free on this machine; another executor may have the same, and kill jobs that run without a sandbox',
    );
  return users;
}

interface Opened extends Pick<Machinery, 'runner' | 'relay' | 'tests'> {
  readonly walls: readonly Wall[];
  /** Released when the executor stops. */
  readonly lifetime: AsyncDisposableStack;
}

function startExecutor(deps: ExecutorDeps, options: ExecutorOptions, opened: Opened): Executor {
  const { runner, relay, tests, walls, lifetime } = opened;
  const held = careForHeld({
    ...{ jobDir: runner.jobDir, records: deps.holds, log: deps.log },
    remove: path => runner.remove({ root: path }, deps.log),
  });
  const gate = createWorkGate();
  const kill = new AbortController();
  const machinery: Machinery = { deps, options, runner, relay, tests, held, killed: kill.signal };
  const taker = takeBuilds(deps, options, gate, (taken, slot) => executeBuild(machinery, taken, slot));
  const stopped = Promise.withResolvers<void>();
  const ended = taker.ended.then(() => stopped.promise);
  // No caller may be waiting for it: `stop` does not fail for it.
  ended.catch(() => undefined);

  async function stop(mode: StopMode): Promise<void> {
    gate.shut();
    if (mode === 'immediate') kill.abort();
    await Promise.allSettled([taker.ended]);
    if (mode === 'graceful') await taker.idle();
    else await atMost(HAND_OVER_MS, taker.idle());
    await atMost(HAND_OVER_MS, held.stop());
    await atMost(HAND_OVER_MS, runner.idle());
    await lifetime.disposeAsync();
    stopped.resolve();
  }

  return {
    sandboxReport: runner.report,
    isolated: runner.isolated,
    walls,
    jobDir: runner.jobDir,
    ended,
    running: () => taker.running(),
    pause: () => gate.pause(),
    resume: () => gate.resume(),
    stop,
    [Symbol.asyncDispose]: () => stop('immediate'),
  };
}

async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  const enough = new AbortController();
  await Promise.race([work, pause(ms, enough.signal)]);
  enough.abort();
}

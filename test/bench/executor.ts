/**
 * What a build costs beyond its own work. Everything real (git, bubblewrap, processes); the workspace on tmpfs.
 *
 *     node test/bench/executor.ts        prints the rows
 *
 * Oracle: after each workspace `git write-tree` of it must give the commit's tree, else the figure is worth nothing and the
 * bench fails.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { makePlaces, placesOf } from '../../src/executor/build-places.ts';
import { createBuildSteps } from '../../src/executor/build-steps.ts';
import { createOwnProcesses } from '../../src/executor/git-process.ts';
import { createKeptCheckouts } from '../../src/executor/kept-checkout.ts';
import { openSandbox } from '../../src/executor/sandbox/open-sandbox.ts';
import type { Sandbox } from '../../src/executor/sandbox/sandbox.ts';
import { createSpawner, type Spawner } from '../../src/executor/spawner/spawner.ts';
import { createTestReader } from '../../src/executor/test-reports/test-reader.ts';
import { prepareWorkspace, type WorkspaceDeps } from '../../src/executor/workspace.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { randomIds } from '../../src/lib/ids.ts';
import { createGitRepository, type GitRepository } from '../fake/git-repository.ts';
import { buildRequest, openBench, script } from '../unit/executor/fixture.ts';

export interface BenchRow {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}

const FILES = 10_000;
const ROUNDS = 20;
const TMPFS_MAGIC = 0x01021994;

export async function benchExecutor(): Promise<BenchRow[]> {
  const folder = mkdtempSync(
    join(statfsSync('/dev/shm').type === TMPFS_MAGIC ? '/dev/shm' : tmpdir(), 'gatehouse-bench-'),
  );
  // As a state directory usually is: others may pass through.
  chmodSync(folder, 0o755);
  try {
    return [
      ...(await benchWorkspace(folder, 'flat')),
      ...(await benchWorkspace(folder, 'deep')),
      ...(await benchOverhead(folder)),
      ...(await benchTestReports(folder)),
      ...(await benchEventLoop()),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** `deep`: each file lies ten directories down, most of which hold one entry. */
type Shape = 'flat' | 'deep';

async function benchWorkspace(folder: string, shape: Shape): Promise<BenchRow[]> {
  const gitDir = join(folder, `git-${shape}`);
  mkdirSync(gitDir);
  const repository = await createGitRepository(gitDir);
  chmodSync(join(repository.path, '..'), 0o755);
  const commits = await makeCommits(repository, shape);
  const spawner = createSpawner({
    onCrash: reason => {
      throw new Error(reason);
    },
  });
  try {
    const rows: BenchRow[] = [];
    for (const mode of ['auto', 'none'] as const) {
      const jobDir = join(folder, `jobs-${shape}-${mode}`);
      const sandbox = await openSandbox({
        mode,
        jobDir,
        gitDir,
        path: process.env.PATH ?? '',
        readOnlyPaths: [],
        firstUser: process.geteuid?.() === 0 ? 65_600 : null,
        spawner,
      });
      const times = await workspaceTimes(spawner, sandbox, repository, commits, mode === 'auto' ? ROUNDS : 3);
      const how = sandbox.overlays ? 'kept checkout + overlay' : 'fresh checkout';
      rows.push({
        name: `workspace p50, ${FILES} files, ${shape}, next item (3 files differ), ${how}`,
        value: median(times.moved),
        unit: 'ms',
      });
      rows.push({
        name: `workspace p50, ${FILES} files, ${shape}, another job of the item, ${how}`,
        value: median(times.same),
        unit: 'ms',
      });
    }
    return rows;
  } finally {
    await spawner.close();
  }
}

async function makeCommits(repository: GitRepository, shape: Shape): Promise<string[]> {
  const files: Record<string, string> = {};
  const below = shape === 'flat' ? '' : 'a/b/c/d/e/f/g/h/i/';
  for (let i = 0; i < FILES; i += 1) files[`dir${i % 100}/${below}file${i}.txt`] = `line ${i}\n`.repeat(40);
  const commits = [await repository.commit({ files })];
  for (let i = 0; i < ROUNDS; i += 1) {
    const changed = Object.fromEntries(
      [0, 1, 2].map(k => [`dir${k}/${below}file${k + (i % 5) * 100}.txt`, `changed ${i}\n`]),
    );
    commits.push(await repository.commit({ files: changed }));
  }
  await repository.git('repack', '-adq');
  return commits;
}

async function workspaceTimes(
  spawner: Spawner,
  sandbox: Sandbox,
  repository: GitRepository,
  commits: readonly string[],
  rounds: number,
) {
  const own = createOwnProcesses(spawner, sandbox);
  const deps: WorkspaceDeps = {
    repositories: {
      provide: async () => ({ kind: 'ready', gitDir: repository.path }),
      checkoutSize: async () => ({ entries: 0, bytes: 0 }),
      fileLines: async () => undefined,
      commitMessage: async () => undefined,
    },
    sandbox,
    own,
    kept: createKeptCheckouts(join(sandbox.jobDir, '.kept'), own, Number.POSITIVE_INFINITY),
    checkoutBytes: null,
  };
  async function once(commit: string): Promise<number> {
    const request = { ...buildRequest(commit, {}), uuid: randomIds().uuid() };
    const places = placesOf(sandbox.jobDir, request.uuid);
    const before = performance.now();
    makePlaces(places, sandbox.ownerOf(0), sandbox.view(places).work);
    const clock = systemClock();
    const workspace = await prepareWorkspace(deps, request, places, 0, createBuildSteps(clock, clock.now()));
    const took = performance.now() - before;
    const tree = workspace.overlays[0]?.lower ?? join(places.src, 'git.example.org/acme/app');
    checkOracle(repository, tree, commit);
    rmSync(places.root, { recursive: true, force: true });
    return took;
  }
  await once(commits[0] ?? '');
  const moved: number[] = [];
  const same: number[] = [];
  for (const commit of commits.slice(1, rounds + 1)) {
    moved.push(await once(commit));
    same.push(await once(commit));
  }
  return { moved, same };
}

function checkOracle(repository: GitRepository, tree: string, commit: string): void {
  const env = {
    PATH: process.env.PATH,
    GIT_DIR: join(tree, '.git'),
    GIT_WORK_TREE: tree,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: join(repository.path, 'objects'),
  };
  const git = (...args: string[]) =>
    execFileSync('git', args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  const [written, wanted, status] = [
    git('write-tree'),
    git('rev-parse', `${commit}^{tree}`),
    git('status', '--porcelain'),
  ];
  if (written !== wanted || status !== '')
    throw new Error(`wrong workspace for ${commit}: tree ${written}, status ${status}`);
}

/** A whole build of one playbook that does nothing, from the queue to its result. */
async function benchOverhead(folder: string): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const mode of ['none', 'auto'] as const) {
    const own = join(folder, `overhead-${mode}`);
    mkdirSync(own);
    await using bench = await openBench({ sandbox: mode, maxBuilds: 1 }, { folder: own });
    const commit = await bench.commit({ 'ci/true.sh': script('true') });
    const times: number[] = [];
    for (let i = 0; i < 15; i += 1) {
      const before = performance.now();
      await bench.submit(buildRequest(commit, { run: ['ci/true.sh'] })).ended;
      times.push(performance.now() - before);
    }
    rows.push({
      name: `fixed overhead per job p50, ${bench.executor.isolated ? 'bubblewrap' : 'no sandbox'}`,
      value: median(times.slice(2)),
      unit: 'ms',
    });
  }
  return rows;
}

/** A hundred thousand test cases in one file, read in the thread; the executor's own loop goes on meanwhile. */
async function benchTestReports(folder: string): Promise<BenchRow[]> {
  const directory = join(folder, 'reports');
  mkdirSync(directory);
  const cases = Array.from({ length: 100_000 }, (_, at) => `<testcase name="case ${at}" time="0.01"/>`);
  writeFileSync(join(directory, 'junit.xml'), `<testsuite name="all">${cases.join('\n')}</testsuite>`);
  await using reader = createTestReader();
  await reader.read(directory);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const before = performance.now();
  const found = await reader.read(directory);
  const took = performance.now() - before;
  delay.disable();
  if (found?.totals.cases !== 100_000) throw new Error('not all test cases were read');
  return [
    { name: '100000 test cases of a JUnit file', value: took, unit: 'ms' },
    { name: 'event loop delay p99 meanwhile', value: delay.percentile(99) / 1e6, unit: 'ms' },
  ];
}

/** How long the event loop of a service with a big heap stands still while it starts processes. */
async function benchEventLoop(): Promise<BenchRow[]> {
  const spawner = createSpawner({
    onCrash: reason => {
      throw new Error(reason);
    },
  });
  await spawner.ready();
  const ballast = Array.from({ length: 40 }, () => Buffer.alloc(10_000_000, 1));
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const before = performance.now();
  for (let i = 0; i < 50; i += 1) {
    await spawner.start({
      argv: ['/bin/true'],
      env: {},
      cwd: '/',
      user: null,
      output: { kind: 'capture', limit: 10 },
      timeoutMs: 5_000,
      graceMs: 100,
      reach: { kind: 'group' },
    }).ended;
  }
  const perProcess = (performance.now() - before) / 50;
  delay.disable();
  await spawner.close();
  const megabytes = Math.round(ballast.reduce((sum, { length }) => sum + length, 0) / 1e6);
  return [
    {
      name: `event loop delay p99 while starting processes, ${megabytes} MB ballast`,
      value: delay.percentile(99) / 1e6,
      unit: 'ms',
    },
    { name: 'process through the spawner', value: perProcess, unit: 'ms' },
  ];
}

function median(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

if (import.meta.main) {
  for (const { name, value, unit } of await benchExecutor())
    process.stdout.write(`${value.toFixed(1).padStart(8)} ${unit}  ${name}\n`);
}

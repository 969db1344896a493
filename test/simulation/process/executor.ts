/** An executor process: the real end of the store, jobs that take virtual time and whose verdict follows from what they test. */

import type { BuildEvent, BuildResultEvent, TakenBuild } from '../../../src/executor/deps.ts';
import { createStoreBuilds } from '../../../src/executor/store-builds.ts';
import { derivedUuid } from '../../../src/lib/ids.ts';
import { pause } from '../../../src/lib/pause.ts';
import { createWorkCount } from '../../../src/lib/work-count.ts';
import type { BuildRequest } from '../../../src/model/build-request.ts';
import { buildRequestCodec } from '../../../src/model/codec/records.ts';
import type { BuildResult } from '../../../src/model/results.ts';
import { registerComponent } from '../../../src/store/components.ts';
import { ensureNode } from '../../../src/store/ensure-node.ts';
import { RequestQueue } from '../../../src/store/request-queue.ts';
import { giveSigns } from '../../../src/store/signs-of-life.ts';
import { isNamed, jobFails } from '../host/developer.ts';
import type { Incarnation } from '../kernel/incarnation.ts';
import type { ProcessParts } from './parts.ts';

const SLOTS = 4;

/** What the jobs did, for the checks: a run begins when the executor starts the job, and ends with it or with its process. */
export interface JobRun {
  readonly build: string;
  readonly job: string;
  /** `<pipeline> <change id>`. */
  readonly of: string;
  readonly by: string;
  readonly generation: number;
  readonly startedAt: number;
  endedAt: number | undefined;
  verdict: BuildResult | undefined;
}

export async function runExecutor(life: Incarnation, parts: ProcessParts, stop: AbortSignal): Promise<void> {
  const { paths } = parts;
  const store = parts.connect(life);
  const queue = new RequestQueue({ store, path: paths.requests('build'), codec: buildRequestCodec });
  await queue.prepare(stop);
  const builds = createStoreBuilds(queue, {
    store,
    paths,
    clock: life.clock,
    ids: life.ids,
    worker: life.name,
  });
  await registerComponent(store, paths, 'executor', {
    host: life.name,
    pid: 1,
    version: '0',
    state: 'running',
    startedAt: life.clock.now(),
    labels: [],
    address: null,
  });
  const working = new Set<Promise<void>>();
  await ensureNode(store, paths.signs);
  const signs = { store, path: paths.sign(store.sessionId), clock: life.clock };
  const count = createWorkCount();
  life.background(giveSigns({ ...signs, work: count }, stop));
  while (!stop.aborted) {
    if (working.size >= SLOTS) {
      await Promise.race(working);
      continue;
    }
    const taken = await builds.take(() => true, stop);
    if (taken === undefined) break;
    const held = count.hold();
    const work = execute(taken, life, parts, stop).finally(() => {
      held[Symbol.dispose]();
      working.delete(work);
    });
    life.background(work);
    working.add(work);
  }
  await Promise.all(working);
  await store.close();
}

async function execute(
  taken: TakenBuild,
  life: Incarnation,
  parts: ProcessParts,
  stop: AbortSignal,
): Promise<void> {
  const { request, cancelled, lost } = taken;
  const startedAt = life.clock.now();
  await taken.report({
    kind: 'build-started',
    ...about(request, 'build-started'),
    at: startedAt,
    worker: life.name,
  });
  if (lost.aborted) return;
  const run: JobRun = {
    build: request.uuid,
    job: request.jobName,
    of: `${request.zuul.pipeline} ${request.zuul.change}`,
    by: life.name,
    generation: life.generation,
    startedAt: parts.now(),
    endedAt: undefined,
    verdict: undefined,
  };
  parts.jobRuns.push(run);
  const halt = AbortSignal.any([cancelled, lost, stop]);
  await pause(parts.jobDuration(request, life), halt);
  if (!halt.aborted && isSaid(request, parts, 'pauses')) await waitForDependents(taken, life, halt);
  run.endedAt = parts.now();
  if (lost.aborted) return;
  const verdict = halt.aborted ? (cancelled.aborted ? 'CANCELED' : 'RETRY') : verdictOf(request, parts);
  run.verdict = verdict;
  const endedAt = life.clock.now();
  const event = resultEvent(request, verdict, life, { startedAt, endedAt, steps: [] });
  await taken.complete(verdict === 'RETRY' ? { ...event, workerEnd: 'stopped' } : event, []);
}

/** Between run and post-run, as a job that returned `zuul.pause`. */
async function waitForDependents(taken: TakenBuild, life: Incarnation, halt: AbortSignal): Promise<void> {
  await taken.report({
    kind: 'build-paused',
    ...about(taken.request, 'build-paused'),
    at: life.clock.now(),
  });
  await taken.resumed(halt);
}

function verdictOf(request: BuildRequest, parts: ProcessParts): BuildResult {
  if (jobFails(filesOf(request, parts), request.jobName)) return 'FAILURE';
  return isSaid(request, parts, 'flaky') && !hasRunBefore(request, parts) ? 'FAILURE' : 'SUCCESS';
}

function filesOf({ projects }: BuildRequest, { host }: ProcessParts): ReadonlyMap<string, string> {
  const files = projects.map(({ commit }) => host.objects.get(commit).files);
  return new Map(files.flatMap((each, index) => [...each].map(([path, text]) => [`${index}/${path}`, text])));
}

/** By the change that is tested, not by one ahead of it. */
function isSaid(request: BuildRequest, parts: ProcessParts, kind: 'flaky' | 'pauses'): boolean {
  const topic = String(request.zuul.change).split('/').at(-1) ?? '';
  return isNamed(filesOf(request, parts), topic, kind, request.jobName);
}

/** To a verdict. */
function hasRunBefore({ jobName, zuul }: BuildRequest, { jobRuns }: ProcessParts): boolean {
  const of = `${zuul.pipeline} ${zuul.change}`;
  return jobRuns.some(run => run.of === of && run.job === jobName && run.verdict !== undefined);
}

function about(request: BuildRequest, kind: BuildEvent['kind']) {
  const { uuid, item, buildset } = request;
  return { uuid: derivedUuid(uuid, kind), item, buildset, build: uuid };
}

function resultEvent(
  request: BuildRequest,
  result: BuildResult,
  life: Incarnation,
  execution: BuildResultEvent['execution'],
): BuildResultEvent {
  return {
    kind: 'build-result',
    ...about(request, 'build-result'),
    at: execution?.endedAt ?? life.clock.now(),
    result,
    worker: life.name,
    execution,
    of: {
      job: request.jobName,
      attempt: request.attempt,
      requestedAt: request.requestedAt,
      trace: request.trace,
    },
  };
}

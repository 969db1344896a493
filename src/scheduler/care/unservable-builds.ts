/**
 * Waiting builds that no executor will take: they were requested while no executor was registered, or the only one that could run
 * them is gone for good. Checked whenever executors come and go; a build whose labels, or whose version of Ansible, no executor offers ends as NODE_FAILURE, as a
 * new one does (`commands.ts`), and one whose job has an alternative that is offered is requested again with that.
 */
import { derivedUuid } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { pause } from '../../lib/pause.ts';
import type { BuildRequest } from '../../model/build-request.ts';
import type { PipelineEvent } from '../../model/event.ts';
import type { EventQueue } from '../../store/event-queue.ts';
import type { StorePaths } from '../../store/paths.ts';
import { type Operation, type Store, StoreError } from '../../store/port.ts';
import type { RequestQueue } from '../../store/request-queue.ts';
import { removalOf, type StoredRequest } from '../../store/stored-request.ts';
import { wakeUps } from '../../store/wake-ups.ts';
import { buildLogFacts } from '../../tracing/log-facts.ts';
import { buildSpanOf } from '../../tracing/span-ids.ts';
import { canBeHad, isBetterElsewhere, isCutOff, labelProblem, lacksAnsible } from '../turn/node-labels.ts';
import { type PassDeps, recordPass } from './pass-recorder.ts';
import type { SteadyExecutors } from './steady-executors.ts';

/** Of the sweeper; the results go to the queues of the builds' pipelines. */
export interface UnservableDeps extends PassDeps {
  readonly store: Store;
  readonly paths: StorePaths;
  readonly log: Pick<Log, 'warn'>;
  readonly executors: SteadyExecutors;
  readonly buildRequests: RequestQueue<BuildRequest>;
  pipelineQueue(tenant: string, pipeline: string): EventQueue<PipelineEvent>;
}

/** The sweeper's fence. */
interface Committer {
  commit(operations: readonly Operation[], operationId: string): Promise<unknown>;
}

/** A turn that was decided while executors came and went may be committed just after the first check. */
const SECOND_CHECK_MS = 5_000;

/** Until aborted. */
export async function watchUnservableBuilds(
  deps: UnservableDeps,
  fence: Committer,
  signal: AbortSignal,
): Promise<void> {
  const path = deps.paths.components('executor');
  for await (const _ of wakeUps(deps.store, path, signal, event => event.kind !== 'changed')) {
    for (const wait of [0, SECOND_CHECK_MS]) {
      await pause(wait, signal);
      await deps.executors.steady(signal);
      if (signal.aborted) return;
      await endUnservableBuilds(deps, fence);
    }
  }
}

/** One pass over all that wait. */
export async function endUnservableBuilds(deps: UnservableDeps, fence: Committer): Promise<void> {
  for (const request of await deps.buildRequests.list()) {
    if (request.state.kind !== 'requested') continue;
    const { job } = request.value;
    // A build with hosts waits for an executor that can use them, and for other hosts where none can.
    if (request.granted !== undefined && !lacksAnsible(job, deps.executors)) {
      if (isCutOff(job, request.granted, deps.executors)) await end(request, CUT_OFF, deps, fence);
      continue;
    }
    const problem = labelProblem(job, deps.executors);
    if (problem !== undefined) await end(request, { result: 'NODE_FAILURE', detail: problem }, deps, fence);
    else if (isBetterElsewhere(job, request.wanted !== undefined, deps.executors))
      await end(request, ELSEWHERE, deps, fence);
  }
}

/** Builds that wait for hosts, of which none is in service; an alternative nodeset that can be had is taken instead. @param due why, by uuid. */
export async function endStrandedBuilds(
  due: ReadonlyMap<string, string>,
  deps: UnservableDeps,
  fence: Committer,
): Promise<void> {
  for (const request of await deps.buildRequests.list()) {
    const detail = due.get(request.uuid);
    if (detail === undefined || request.state.kind !== 'requested' || request.granted !== undefined) continue;
    const isElsewhere = canBeHad(request.value.job, deps.executors);
    await end(request, isElsewhere ? ELSEWHERE : { result: 'NODE_FAILURE', detail }, deps, fence);
  }
}

type Ending = Pick<
  Extract<PipelineEvent, { readonly kind: 'build-result' }>,
  'result' | 'detail' | 'workerEnd'
>;

/** No attempt of the job; as often as executors may be lost over it. */
const ELSEWHERE: Ending = {
  result: 'RETRY',
  workerEnd: 'lost',
  detail:
    'its node labels are not offered any more where it waits; they, or an alternative nodeset, are offered elsewhere',
};

/** Likewise. */
const CUT_OFF: Ending = {
  result: 'RETRY',
  workerEnd: 'lost',
  detail: 'no executor that is running reaches the hosts it was given, or has its version of Ansible there',
};

async function end(
  request: StoredRequest<BuildRequest>,
  ending: Ending,
  deps: UnservableDeps,
  fence: Committer,
): Promise<void> {
  const { pipelineQueue, clock, ids, log } = deps;
  const { uuid, tenant, pipeline, item, buildset, jobName } = request.value;
  const result = pipelineQueue(tenant, pipeline).put({
    kind: 'build-result',
    uuid: derivedUuid(uuid, 'unservable'),
    ...{ item, buildset, build: uuid },
    at: clock.now(),
    worker: null,
    execution: null,
    ...ending,
  });
  const build = { uuid, job: jobName, span: buildSpanOf(request.value) };
  const pass = recordPass('unservable-builds', { tenant, pipeline, item, build }, deps);
  await pass.part('Sweep', 'unservable-build', async () => ({ settled: 1 }));
  try {
    // A worker that has claimed it meanwhile has written its record.
    await fence.commit([...removalOf(request), ...result, ...pass.rows()], ids.uuid());
    const facts = buildLogFacts({ uuid, item, buildset });
    log.warn(
      { ...facts, job: jobName, tenant, pipeline },
      `a build that waited cannot run: ${ending.detail}`,
    );
  } catch (error) {
    if (!(error instanceof StoreError && ['NoNode', 'BadVersion'].includes(error.code))) throw error;
  }
}

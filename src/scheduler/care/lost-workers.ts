/**
 * Requests whose worker is lost: its ephemeral claim ended with its session. A build ends as RETRY, so that a new one starts
 * elsewhere. A request to a merger goes back into the queue, until so many mergers were lost with it that it ends as failed.
 */

import { type Clock, laterOf, type Nanoseconds } from '../../lib/clock.ts';
import { derivedUuid } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import type { BuildRequest } from '../../model/build-request.ts';
import { mergerOutcomeCodec } from '../../model/codec/records.ts';
import type { PipelineEvent } from '../../model/event.ts';
import { MERGERS_PER_REQUEST, type MergerRequest, OUTAGES_PER_REQUEST } from '../../model/merge.ts';
import { withLeftover } from '../../model/static-host.ts';
import type { WorkerLoss } from '../../model/worker-loss.ts';
import { changeHostState } from '../../nodes/host-state.ts';
import { type Abandoned, abandonedRequests, discarded, requeued } from '../../store/abandoned-requests.ts';
import type { EventQueue } from '../../store/event-queue.ts';
import type { StorePaths } from '../../store/paths.ts';
import { create, type Operation, type Store, StoreError } from '../../store/port.ts';
import type { RequestQueue } from '../../store/request-queue.ts';
import { lastSign } from '../../store/signs-of-life.ts';
import type { StoredRequest } from '../../store/stored-request.ts';
import { buildLogFacts, mergerRequestLogFacts } from '../../tracing/log-facts.ts';
import { buildSpanOf } from '../../tracing/span-ids.ts';
import { type PassDeps, recordPass } from './pass-recorder.ts';

/** Of the sweeper, which runs it whenever claims vanish. */
export interface LostWorkersDeps extends PassDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** When this scheduler started. A worker that took its request before that may have been lost in an outage of everything. */
  readonly since: Nanoseconds;
  readonly paths: Pick<StorePaths, 'sign' | 'spanOutbox' | 'historyOutbox' | 'tenant' | 'hostState'>;
  readonly mergeRequests: RequestQueue<MergerRequest>;
  readonly buildRequests: RequestQueue<BuildRequest>;
  pipelineQueue(tenant: string, pipeline: string): EventQueue<PipelineEvent>;
}

/**
 * Several schedulers may do it at the same time: each request is settled by exactly one multi-write.
 *
 * @param among uuids; only these requests are looked at. Default: all.
 */
export async function settleLostWorkers(deps: LostWorkersDeps, among?: ReadonlySet<string>): Promise<void> {
  for (const abandoned of await abandonedRequests(deps.mergeRequests, among)) {
    await settle(await mergeOperations(abandoned, deps), 'merge', abandoned, deps);
  }
  for (const abandoned of await abandonedRequests(deps.buildRequests, among)) {
    if (abandoned.kind === 'lost-worker') await markHosts(abandoned.request, deps);
    const result = abandoned.kind === 'lost-worker' ? await lostResult(abandoned.request, deps) : [];
    await settle([...discarded(deps.buildRequests, abandoned), ...result], 'build', abandoned, deps);
  }
}

async function mergeOperations(
  abandoned: Abandoned<MergerRequest>,
  deps: LostWorkersDeps,
): Promise<readonly Operation[]> {
  const { mergeRequests } = deps;
  if (abandoned.kind !== 'lost-worker' || abandoned.cancelled) return discarded(mergeRequests, abandoned);
  const { request } = abandoned;
  const from = await signOfWorker(request, deps);
  const loss = from === undefined ? undefined : { from, at: deps.clock.now() };
  if (request.attempt < (isOutage(request, deps) ? OUTAGES_PER_REQUEST : MERGERS_PER_REQUEST))
    return requeued(mergeRequests, request, loss);
  return [...discarded(mergeRequests, abandoned), ...failedAnswer(request, loss, deps)];
}

function failedAnswer(
  { value, attempt, losses = [] }: StoredRequest<MergerRequest>,
  last: WorkerLoss | undefined,
  deps: LostWorkersDeps,
): readonly Operation[] {
  const { item, tenant, uuid } = value;
  const text = `Unable to serve the request: ${attempt} mergers ended while they worked on it`;
  const outcome = { kind: 'failed', text, retryable: false, steps: [], worker: '' } as const;
  if (item === undefined)
    return [create(deps.paths.tenant(tenant).answer(uuid), mergerOutcomeCodec.encode(outcome))];
  return deps.pipelineQueue(tenant, item.pipeline).put({
    kind: 'merger-result',
    uuid: derivedUuid(uuid, 'lost-worker'),
    item: item.item,
    buildset: item.buildset,
    request: uuid,
    at: deps.clock.now(),
    outcome,
    losses: last === undefined ? losses : [...losses, last],
  });
}

function isOutage({ state }: StoredRequest<unknown>, { since }: LostWorkersDeps): boolean {
  return state.kind === 'taken' && laterOf(state.at, since) === since;
}

async function lostResult(
  stored: StoredRequest<BuildRequest>,
  deps: LostWorkersDeps,
): Promise<readonly Operation[]> {
  const request = stored.value;
  const sign = await signOfWorker(stored, deps);
  return deps.pipelineQueue(request.tenant, request.pipeline).put({
    kind: 'build-result',
    uuid: derivedUuid(request.uuid, 'lost-worker'),
    item: request.item,
    buildset: request.buildset,
    build: request.uuid,
    at: deps.clock.now(),
    result: 'RETRY',
    worker: null,
    execution: null,
    detail: 'its executor is gone',
    workerEnd: isOutage(stored, deps) ? 'outage' : 'lost',
    ...(sign === undefined ? {} : { lastSign: sign }),
  });
}

/** Before its request goes, and its places with it: nothing is given to others before what it left there is removed. */
async function markHosts(
  { granted, value }: StoredRequest<BuildRequest>,
  deps: LostWorkersDeps,
): Promise<void> {
  // What a provider made for it is deleted by an executor, once the request is gone.
  for (const { host } of (granted?.hosts ?? []).filter(({ made }) => made === undefined))
    await changeHostState(deps, host, state => withLeftover(state, value.uuid, deps.clock.now()));
}

/** When the worker was last heard of: not before it took the request. */
async function signOfWorker(
  { state }: StoredRequest<unknown>,
  { store, paths }: LostWorkersDeps,
): Promise<Nanoseconds | undefined> {
  if (state.kind !== 'taken' || state.session === null) return undefined;
  const sign = await lastSign(store, paths.sign(state.session));
  return laterOf(state.at, sign ?? state.at);
}

async function settle(
  operations: readonly Operation[],
  work: 'merge' | 'build',
  abandoned: Abandoned<MergerRequest> | Abandoned<BuildRequest>,
  deps: LostWorkersDeps,
): Promise<void> {
  const pass = recordPass('lost-workers', ownerOf(abandoned), deps);
  await pass.part('Sweep', `lost-${work}`, async () => ({ settled: 1 }));
  try {
    await deps.store.multi([...operations, ...pass.rows()]);
    deps.log.warn(
      logFactsOf(abandoned),
      `the worker of ${work} request ${abandoned.request.uuid} is gone; the request is settled`,
    );
  } catch (error) {
    // Settled by another scheduler, or its worker is back: nothing of ours was applied.
    if (!(error instanceof StoreError && ['NoNode', 'NodeExists', 'BadVersion'].includes(error.code)))
      throw error;
  }
}

function logFactsOf(abandoned: Abandoned<MergerRequest> | Abandoned<BuildRequest>): object {
  if (abandoned.kind !== 'lost-worker') return { request: abandoned.request.uuid };
  const { value } = abandoned.request;
  return 'jobName' in value ? buildLogFacts(value) : mergerRequestLogFacts(value);
}

/** Empty for a broken request: its owner is unknown. */
function ownerOf(abandoned: Abandoned<MergerRequest> | Abandoned<BuildRequest>) {
  if (abandoned.kind !== 'lost-worker') return {};
  const { value } = abandoned.request;
  if ('jobName' in value) {
    const { uuid, jobName: job, tenant, pipeline, item } = value;
    return { tenant, pipeline, item, build: { uuid, job, span: buildSpanOf(value) } };
  }
  const { tenant, item: owner } = value;
  return owner === undefined ? { tenant } : { tenant, pipeline: owner.pipeline, item: owner.item };
}

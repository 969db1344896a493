/**
 * Lost and stray work of one pipeline, settled by its holder before the first turn and once a minute.
 *
 *   merge, build  not lost while its request exists or its result waits in the event queue. Otherwise a result is written in
 *                 its place, so that the item goes on: RETRY for a build, a retried merge
 *   report        likewise, with its intent in the outbox; otherwise the intent is written again: drivers ask the host first
 *   request       of an item, buildset or build that does not need it (any more): withdrawn
 *
 * Whole commits leave nothing to settle. This is for what was removed by hand, for unreadable records, and for interrupted
 * staged commits. Call between turns: `state` must be what is stored.
 */
import type { Clock } from '../../lib/clock.ts';
import { derivedUuid, type Uuid } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { leadChange } from '../../model/about-item.ts';
import { isOpen } from '../../model/build.ts';
import type { BuildRequest } from '../../model/build-request.ts';
import type { PipelineEvent } from '../../model/event.ts';
import type { MergerRequest } from '../../model/merge.ts';
import type { PipelineState } from '../../model/pipeline-state.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import { landingsUnderWay } from '../../pipeline/land-together.ts';
import type { EventQueue } from '../../store/event-queue.ts';
import type { Fence } from '../../store/fence.ts';
import { listOutbox } from '../../store/outbox.ts';
import { type Operation, StoreError } from '../../store/port.ts';
import type { RequestQueue } from '../../store/request-queue.ts';
import { splitOperations } from '../../store/split-operations.ts';
import { isIntact, isReadable } from '../../store/stored-request.ts';
import { type CommandContext, commandOperations } from '../turn/commands.ts';
import type { PipelineContext } from '../turn/pipeline-context.ts';
import { type PassDeps, recordPass } from './pass-recorder.ts';

/** Of one pipeline, passed by its holder. */
export interface SettleDeps extends PassDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly events: EventQueue<PipelineEvent>;
  readonly mergeRequests: RequestQueue<MergerRequest>;
  readonly buildRequests: RequestQueue<BuildRequest>;
}

/**
 * @param state what is stored, with nothing of a turn under way.
 * @throws Fenced when the fence is lost.
 */
export async function settleLostWork(
  state: PipelineState,
  deps: SettleDeps,
  context: CommandContext & Pick<PipelineContext, 'store'>,
  fence: Fence,
): Promise<void> {
  const owner = { tenant: context.tenant.name, pipeline: context.pipeline.name };
  const merges = await deps.mergeRequests.everything();
  const builds = await deps.buildRequests.everything();
  const items = [...state.items.values()];
  if (items.length > 0) {
    const intents = await listOutbox(context.store, context.nodes.reportOutbox);
    // Read results after requests and intents, which are removed by the multi-write that adds the result.
    const events = (await deps.events.list()).map(({ value }) => value);
    const known = new Set<string>(
      [...merges, ...builds]
        .filter(isIntact)
        .map(each => each.uuid)
        .concat(events.flatMap(workOf)),
    );
    const lost = items.flatMap(item => lostWork(item, known, deps));
    if (lost.length > 0) deps.log.warn({ lost: lost.length }, 'lost work is started again');
    const reports = intents.length > 0 ? [] : lostReports(state, known, context);
    if (reports.length > 0) deps.log.warn({ lost: reports.length }, 'lost reports are requested again');
    const pass = recordPass('lost-work', owner, deps);
    await pass.part('Sweep', 'lost-requests', async () => ({ settled: lost.length }));
    await pass.part('Sweep', 'lost-reports', async () => ({ settled: reports.length }));
    const operations = [...lost.flatMap(event => deps.events.put(event)), ...reports, ...pass.rows()];
    for (const part of splitOperations(operations)) await fence.commit(part, deps.ids.uuid());
  }
  const wanted = new Set<string>(items.flatMap(wantedBy));
  const isOurs = (tenant: string, pipeline: string | undefined) =>
    tenant === context.tenant.name && pipeline === context.pipeline.name;
  const strayMerges = merges
    .filter(isReadable)
    .filter(({ uuid, value }) => isOurs(value.tenant, value.item?.pipeline) && !wanted.has(uuid))
    .map(({ uuid }) => uuid);
  const strayBuilds = builds
    .filter(isReadable)
    .filter(({ uuid, value }) => isOurs(value.tenant, value.pipeline) && !wanted.has(uuid))
    .map(({ uuid }) => uuid);
  const pass = recordPass('stray-requests', owner, deps);
  await pass.part('Sweep', 'stray-merges', () => withdraw(strayMerges, deps.mergeRequests, deps, fence));
  await pass.part('Sweep', 'stray-builds', () => withdraw(strayBuilds, deps.buildRequests, deps, fence));
  if (pass.didSomething) await fence.commit(pass.rows(), deps.ids.uuid());
}

function workOf(event: PipelineEvent): readonly string[] {
  switch (event.kind) {
    case 'merger-result':
      return [event.request];
    case 'build-result':
      return [event.build];
    case 'report-result':
      return [event.report];
    default:
      return [];
  }
}

/** Uuids of what the item waits for. */
function wantedBy({ buildset }: QueueItem): readonly string[] {
  const { stage } = buildset;
  const merges = stage.state === 'merging' || stage.state === 'repo-state' ? [stage.request] : [];
  return [...merges, ...buildset.builds.filter(isOpen).map(build => build.uuid)];
}

function lostWork(item: QueueItem, known: ReadonlySet<string>, deps: SettleDeps): readonly PipelineEvent[] {
  const at = deps.clock.now();
  const { stage } = item.buildset;
  const common = { item: item.uuid, buildset: item.buildset.uuid, at };
  const merges: PipelineEvent[] = [];
  if ((stage.state === 'merging' || stage.state === 'repo-state') && !known.has(stage.request)) {
    merges.push({
      kind: 'merger-result',
      uuid: lostUuid(stage.request),
      ...common,
      request: stage.request,
      outcome: { kind: 'failed', text: 'the request was lost', retryable: true, steps: [], worker: '' },
    });
  }
  const builds = item.buildset.builds
    .filter(build => isOpen(build) && !known.has(build.uuid))
    .map(
      (build): PipelineEvent => ({
        kind: 'build-result',
        uuid: lostUuid(build.uuid),
        ...common,
        build: build.uuid,
        result: 'RETRY',
        worker: null,
        execution: null,
        detail: 'lost with its executor',
        workerEnd: 'lost',
      }),
    );
  return [...merges, ...builds];
}

function lostUuid(of: Uuid): Uuid {
  return derivedUuid(of, 'lost');
}

const NO_MESSENGERS: ReadonlySet<string> = new Set();

/** Intents of items that wait for the answer to a lost report; those that land together are so again, in their order. */
function lostReports(
  state: PipelineState,
  known: ReadonlySet<string>,
  context: CommandContext,
): readonly Operation[] {
  const items = state.queues.flatMap(queue => queue.items.flatMap(uuid => state.items.get(uuid) ?? []));
  const landings = landingsUnderWay(items);
  const commands = items.flatMap(item => {
    const {
      uuid,
      phase,
      buildset: { stage },
    } = item;
    if (phase.phase !== 'reporting' || known.has(phase.report)) return [];
    const { report, action } = phase;
    const together = landings.get(report);
    const joint = together === undefined ? {} : { together };
    const result = stage.state === 'complete' ? stage.result : null;
    const { key: change } = leadChange(item);
    return [{ kind: 'report', report, item: uuid, action, result, change, awaited: true, ...joint } as const];
  });
  // Messages are awaited by no item: theirs may have been sent long ago.
  return commandOperations({ state, commands, left: [] }, { ...context, messengers: NO_MESSENGERS });
}

async function withdraw<T extends MergerRequest | BuildRequest>(
  uuids: readonly string[],
  requests: RequestQueue<T>,
  { ids, log }: SettleDeps,
  fence: Fence,
): Promise<{ readonly removed: number }> {
  if (uuids.length === 0) return { removed: 0 };
  let removed = 0;
  const operations = await requests.withdrawAll(uuids);
  if (operations.length > 0) log.warn({ requests: operations.length }, 'stray requests are withdrawn');
  for (const operation of operations) {
    try {
      await fence.commit([operation], ids.uuid());
      removed += 1;
    } catch (error) {
      // Commit conflict with a worker: the next pass settles the rest.
      if (!(error instanceof StoreError) || !['NoNode', 'BadVersion', 'NodeExists'].includes(error.code))
        throw error;
    }
  }
  return { removed };
}

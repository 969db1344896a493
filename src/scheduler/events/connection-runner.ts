/**
 * A connection in one scheduler: listens to the host and processes its events, under the connection's fence.
 *
 * A map of the folder, in the order of reading:
 *
 *     lanes        connection-events → event-lanes
 *     one read     read-host → driver-memory, read-tries, read-log; missing-records asks for dependencies, topic-members for topics
 *     forwarding   forward-event → ingestion-facts (traces), foreign-tenants; host-orders of people
 *     our own      direct-event (of timers and of what the gate did)
 *     answering    answer-questions of people about a change; outside-shadow: whose people are answered
 *     lending      lend-access (read access, to executors without credentials)
 *     reporting    connection-report (how the host serves), event-effects (traces of the events of a turn), host-passes (those of
 *                  a listener's passes)
 *
 * Only the driver talks to the host, and nothing here decides about a change: an event goes to every tenant of its project.
 */

import type { Connection } from '../../driver/connection.ts';
import type { NewConnectionEvent } from '../../driver/intake.ts';
import { connectionEventCodec, connectionReportCodec, questionCodec } from '../../model/codec/records.ts';
import type { ConnectionEvent } from '../../model/event.ts';
import { type ProjectKey, projectIdOf } from '../../model/project.ts';
import type { Question } from '../../model/question.ts';
import { ensureNode } from '../../store/ensure-node.ts';
import { EventQueue } from '../../store/event-queue.ts';
import type { Fence } from '../../store/fence.ts';
import { publishRecord } from '../../store/published-record.ts';
import { fencedLoop, runTogether } from '../loop.ts';
import type { SchedulerShared } from '../shared.ts';
import { type AnswerDeps, answerQuestions } from './answer-questions.ts';
import { type ConnectionEventsDeps, processConnectionEvents } from './connection-events.ts';
import { connectionReport } from './connection-report.ts';
import { openDriverMemory } from './driver-memory.ts';
import { type ForeignTenants, foreignTenants } from './foreign-tenants.ts';
import { hostPasses } from './host-passes.ts';
import { lendAccess } from './lend-access.ts';
import { outsideShadow } from './outside-shadow.ts';

/** The tenants that hold a project, with their queues, as of the call. */
export type TenantsOf = ConnectionEventsDeps['tenantsOf'];

/** @param projects all projects of any tenant on this connection. */
export async function runConnection(
  connection: Connection,
  projects: () => ReadonlySet<ProjectKey>,
  tenantsOf: TenantsOf,
  shared: SchedulerShared,
  signal: AbortSignal,
): Promise<void> {
  const { deps } = shared;
  const { store, paths, clock, ids } = deps;
  const places = paths.connection(connection.name);
  const queue = new EventQueue<ConnectionEvent>({
    store,
    path: places.queue,
    seenPath: places.seen,
    codec: connectionEventCodec,
    clock,
    onDeadLetter: shared.onDeadLetter,
  });
  await queue.prepare(signal);
  await ensureNode(store, places.memory, signal);
  const answers = await openAnswers(connection, shared, signal);
  const tenants = tenantsOnConnection(connection, projects, tenantsOf, shared);
  const events: ConnectionEventsDeps = {
    ...{ connection, store, paths, clock, ids, queue, ...tenants },
    ...(answers === undefined ? {} : { questions: answers.questions }),
    log: deps.log,
    changes: shared.changes,
    dependencies: shared.dependencies,
    tracing: deps.tracing,
    ...(deps.metrics === undefined ? {} : { metrics: deps.metrics }),
  };
  const emit = async (delivery: NewConnectionEvent) => {
    const now = clock.now();
    const uuid = ids.uuid();
    const event = {
      uuid,
      connection: connection.name,
      ...delivery,
      receivedAt: now,
      storedAt: now,
      sampled: deps.tracing.isSampled(uuid),
    };
    await queue.offer(event, delivery.deliveryId);
  };
  const request = {
    lockPath: places.election,
    epochPath: places.epoch,
    lastOperationPath: places.lastOperation,
    guid: ids.uuid(),
  };
  const loop = { store, clock, log: deps.log, pauseSwitch: shared.pauseSwitch };
  await fencedLoop(`connection ${connection.name}`, request, loop, signal, async (fence, stop) => {
    await runTogether(AbortSignal.any([stop, fence.lost]), held => {
      const processing = processAndReport(events, fence, held, shared);
      const listening = connection.listener?.listen({
        emit,
        projects: tenants.projects,
        memory: openDriverMemory(events),
        signal: held,
        ...hostPasses({ ...events, tracing: deps.tracing }, fence),
      });
      // The end of the listener does not end the processing.
      const lending = lendAccess({ connection, store, paths, log: deps.log }, held);
      const answering =
        answers === undefined ? [] : [answerQuestions({ ...events, ...answers }, fence, held)];
      return [
        processing,
        lending,
        ...answering,
        ...(listening === undefined ? [] : [listening.then(() => processing)]),
      ];
    });
  });
}

/** Undefined: the host has no place for answers, or this scheduler has none to give. */
async function openAnswers(
  { name, answerer }: Connection,
  { deps: { store, paths, clock, explainChange }, onDeadLetter }: SchedulerShared,
  signal: AbortSignal,
): Promise<Pick<AnswerDeps, 'answerer' | 'explain' | 'questions' | 'outsideShadow'> | undefined> {
  if (answerer === undefined || explainChange === undefined) return undefined;
  const path = paths.connection(name).questions;
  const questions = new EventQueue<Question>({ store, path, codec: questionCodec, clock, onDeadLetter });
  await questions.prepare(signal);
  return {
    ...{ answerer, explain: explainChange, questions },
    outsideShadow: tenants => outsideShadow(tenants, { store, paths }),
  };
}

/** The tenants of this process's tenant file, and those that only other schedulers have in theirs. */
function tenantsOnConnection(
  { name }: Connection,
  projects: () => ReadonlySet<ProjectKey>,
  tenantsOf: TenantsOf,
  { deps: { tenants, store, paths }, tenantQueue }: SchedulerShared,
): Required<Pick<ConnectionEventsDeps, 'tenantsOf' | 'projects' | 'refreshTenants'>> {
  const own = new Set(tenants.map(each => each.name));
  let foreign: ForeignTenants = new Map();
  let reads = 0;
  let newestRead = 0;
  return {
    tenantsOf: project => [
      ...tenantsOf(project),
      ...[...foreign].flatMap(([tenant, held]) =>
        held.has(project) ? [{ tenant, queue: tenantQueue(tenant) }] : [],
      ),
    ],
    projects() {
      const others = [...foreign.values()].flatMap(each => [...each]);
      return new Set([...projects(), ...others.filter(each => projectIdOf(each).connection === name)]);
    },
    async refreshTenants() {
      const read = ++reads;
      const found = await foreignTenants(own, store, paths);
      // Lanes read side by side: an older answer does not replace a newer one.
      if (read < newestRead) return;
      newestRead = read;
      foreign = found;
    },
  };
}

/** Processes the events and, where the driver knows, publishes how the host serves. */
async function processAndReport(
  events: ConnectionEventsDeps,
  fence: Fence,
  signal: AbortSignal,
  { deps }: SchedulerShared,
): Promise<void> {
  const { connection, store, paths, clock, log } = events;
  const { health } = connection;
  if (health === undefined) return await processConnectionEvents(events, fence, signal);
  let troubled: Parameters<NonNullable<ConnectionEventsDeps['onRead']>>[0] = () => [];
  const report = publishRecord({
    store,
    path: paths.connection(connection.name).report,
    encode: () => {
      const writer = { at: clock.now(), holder: deps.name };
      return connectionReportCodec.encode(connectionReport(health, troubled(), writer));
    },
    what: `the report of connection ${connection.name}`,
    log,
  });
  using _changes = health.onChange(report.touch);
  const onRead = (lanes: typeof troubled) => {
    troubled = lanes;
    report.touch();
  };
  await report.during(signal, () => processConnectionEvents({ ...events, onRead }, fence, signal));
}

/**
 * The facts of changes for one turn of a pipeline: the cached records of all changes in reach, each judged by its driver against
 * the pipeline's requirements. Reads the change cache only; hosts were asked when the event came in.
 */
import type { Driver } from '../../driver/driver.ts';
import { earlierOf, type Nanoseconds } from '../../lib/clock.ts';
import type { ChangeKey, ChangeRecord } from '../../model/change.ts';
import type { PipelineEvent } from '../../model/event.ts';
import type { PipelineState } from '../../model/pipeline-state.ts';
import { type ConnectionName, projectIdOf } from '../../model/project.ts';
import { MANAGERS } from '../../pipeline/manager/managers.ts';
import type { ChangeFacts } from '../../pipeline/turn.ts';
import type { PipelineContext } from '../turn/pipeline-context.ts';
import { landingVerdict } from './landing-verdict.ts';

type ChangeFactsDeps = Pick<
  PipelineContext,
  'tenant' | 'pipeline' | 'mergeMode' | 'driverOf' | 'record' | 'dependentsOf' | 'sameTopic' | 'queueOf'
>;

/** Facts of every change of the state and the events, and of all that is reachable over topics and dependencies in both directions. */
export function gatherChangeFacts(
  state: PipelineState,
  events: readonly PipelineEvent[],
  deps: ChangeFactsDeps,
  now: Nanoseconds,
): ReadonlyMap<ChangeKey, ChangeFacts> {
  const facts = new Map<ChangeKey, ChangeFacts>();
  const pending = [...startingPoints(state, events)];
  for (let key = pending.pop(); key !== undefined; key = pending.pop()) {
    if (facts.has(key)) continue;
    const record = deps.record(key);
    if (record === undefined) continue;
    const fact = factsOf(record, deps, now);
    facts.set(key, fact);
    pending.push(...record.dependsOn, ...fact.dependents, ...(fact.topic?.changes ?? []));
  }
  return facts;
}

function* startingPoints(state: PipelineState, events: readonly PipelineEvent[]): Iterable<ChangeKey> {
  for (const item of state.items.values()) for (const change of item.changes) yield change.key;
  for (const event of events) {
    if (event.kind === 'enqueue') yield event.trigger.change.key;
    if (event.kind === 'change-updated') yield event.change;
  }
}

function factsOf(record: ChangeRecord, deps: ChangeFactsDeps, now: Nanoseconds): ChangeFacts {
  const { pipeline } = deps;
  const { connection } = projectIdOf(record.change.project);
  const queue = deps.queueOf(record.change);
  return {
    record,
    requirements: requirementsOf(record, deps, now),
    ...landingVerdict(record, deps, deps.driverOf(connection), now),
    dependents:
      record.change.kind === 'change' && MANAGERS[pipeline.manager].bringsDependents
        ? deps.dependentsOf(record.change.key).toSorted(byKey)
        : [],
    ...topicOf(record, queue, deps),
    queue,
    connectionAllowed: pipeline.allowOtherConnections || namesConnection(pipeline, connection),
  };
}

/** As in Zuul: a trigger, a requirement or a reporter does. */
function namesConnection(
  { triggers, require, reject, reporters }: PipelineContext['pipeline'],
  connection: ConnectionName,
): boolean {
  const all = [...triggers, ...require, ...reject, ...Object.values(reporters).flat()];
  return all.some(each => each.connection === connection);
}

function topicOf(
  record: ChangeRecord,
  queue: ReturnType<ChangeFactsDeps['queueOf']>,
  { sameTopic }: ChangeFactsDeps,
): Pick<ChangeFacts, 'topic'> {
  const { status, topic } = record;
  if (topic === undefined || status !== 'open') return {};
  if (!topic.landsWhole && queue?.byTopic !== true) return {};
  return { topic: { name: topic.name, changes: topic.isTooLarge === true ? null : sameTopic(record) } };
}

function requirementsOf(
  record: ChangeRecord,
  deps: ChangeFactsDeps,
  now: Nanoseconds,
): ChangeFacts['requirements'] {
  const { connection } = projectIdOf(record.change.project);
  const driver = deps.driverOf(connection);
  if (driver === undefined)
    return { met: false, text: `connection ${connection} is not configured any more` };
  const recheckAt = recheckOf(record, connection, driver, deps, now);
  for (const requirement of deps.pipeline.require) {
    if (requirement.connection !== connection) continue;
    const verdict = driver.config.meets(requirement.config, record, now);
    if (!verdict.met) return { met: false, text: verdict.text, ...recheckAt };
  }
  for (const rejection of deps.pipeline.reject) {
    if (rejection.connection !== connection) continue;
    const { config } = driver;
    const verdict =
      config.rejects?.(rejection.config, record, now) ?? config.meets(rejection.config, record, now);
    if (verdict.met) return { met: false, text: `rejected: ${verdict.text}`, ...recheckAt };
  }
  return { met: true, text: 'all requirements are met', ...recheckAt };
}

/** The first time at which one of them may give another verdict. */
function recheckOf(
  record: ChangeRecord,
  connection: ConnectionName,
  { config }: Driver,
  { pipeline: { require, reject } }: ChangeFactsDeps,
  now: Nanoseconds,
): Pick<ChangeFacts['requirements'], 'recheckAt'> {
  let first: Nanoseconds | null = null;
  for (const each of [...require, ...reject]) {
    if (each.connection !== connection) continue;
    const at = config.recheckAt?.(each.config, record, now) ?? null;
    if (at !== null) first = first === null ? at : earlierOf(first, at);
  }
  return first === null ? {} : { recheckAt: first };
}

/** The same order in every scheduler; 9 before 10. */
const { compare } = new Intl.Collator('en', { numeric: true });

function byKey(a: ChangeKey, b: ChangeKey): number {
  return compare(a, b) || (a < b ? -1 : 1);
}

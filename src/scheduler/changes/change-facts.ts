/**
 * The facts of changes for one turn of a pipeline: the cached records of all changes in reach, each judged by its driver against
 * the pipeline's requirements. Reads the change cache only; hosts were asked when the event came in. What a turn before found and what
 * still holds is not judged again.
 */
import type { Driver } from '../../driver/driver.ts';
import { earlierOf, type Nanoseconds } from '../../lib/clock.ts';
import { sameList } from '../../lib/same-list.ts';
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

type KnownFacts = ReadonlyMap<ChangeKey, ChangeFacts>;

/**
 * Facts of every change of the state and the events, and of all that is reachable over topics and dependencies in both directions.
 *
 * @param known from an earlier turn with the same rules and drivers: what still holds is the same object, and so is all of it.
 */
export function gatherChangeFacts(
  state: PipelineState,
  events: readonly PipelineEvent[],
  deps: ChangeFactsDeps,
  now: Nanoseconds,
  known: KnownFacts = new Map(),
): KnownFacts {
  const facts = new Map<ChangeKey, ChangeFacts>();
  const asked = changesOf(events);
  const pending = [...asked];
  for (const item of state.items.values()) for (const { key } of item.changes) pending.push(key);
  let isSame = true;
  for (let key = pending.pop(); key !== undefined; key = pending.pop()) {
    if (facts.has(key)) continue;
    const record = deps.record(key);
    if (record === undefined) continue;
    const before = known.get(key);
    // The words of a verdict may change by time where the verdict does not: an event gets those of now.
    const holds = before !== undefined && !asked.has(key) && stillHolds(before, record, deps, now);
    const fact = holds ? before : factsOf(record, deps, now);
    isSame &&= holds;
    facts.set(key, fact);
    for (const needed of record.dependsOn) pending.push(needed);
    for (const dependent of fact.dependents) pending.push(dependent);
    for (const other of fact.topic?.changes ?? []) pending.push(other);
  }
  return isSame && facts.size === known.size ? known : facts;
}

/** What facts were gathered from: where nothing of it has changed, they are the same. */
export interface Gathered {
  /** Of the change cache. */
  readonly mark: number;
  /** Every item is in one of them. */
  readonly queues: PipelineState['queues'];
  /** The first time at which a verdict may be another one; null: none may. */
  readonly until: Nanoseconds | null;
}

/** To be asked when facts have been gathered. @param mark of the change cache, before that. */
export function gatheredFrom({ queues }: PipelineState, facts: KnownFacts, mark: number): Gathered {
  let until: Nanoseconds | null = null;
  for (const { requirements } of facts.values()) {
    const { recheckAt } = requirements;
    if (recheckAt !== undefined) until = until === null ? recheckAt : earlierOf(until, recheckAt);
  }
  return { mark, queues, until };
}

/** Nothing has changed that facts are gathered from, and no event asks for facts of its own. */
export function holdsStill(
  { mark, queues, until }: Gathered,
  state: PipelineState,
  events: readonly PipelineEvent[],
  present: { readonly mark: number; readonly now: Nanoseconds },
): boolean {
  if (mark !== present.mark || queues !== state.queues || changesOf(events).size > 0) return false;
  return until === null || BigInt(until) > BigInt(present.now);
}

function changesOf(events: readonly PipelineEvent[]): ReadonlySet<ChangeKey> {
  const keys = new Set<ChangeKey>();
  for (const event of events) {
    if (event.kind === 'enqueue') keys.add(event.trigger.change.key);
    if (event.kind === 'change-updated') keys.add(event.change);
  }
  return keys;
}

function stillHolds(
  before: ChangeFacts,
  record: ChangeRecord,
  deps: ChangeFactsDeps,
  now: Nanoseconds,
): boolean {
  const { recheckAt } = before.requirements;
  return (
    before.record === record &&
    (recheckAt === undefined || BigInt(recheckAt) > BigInt(now)) &&
    sameList(before.dependents, dependentsOf(record, deps)) &&
    sameTopic(before.topic, topicOf(record, deps).topic)
  );
}

function sameTopic(one: ChangeFacts['topic'], other: ChangeFacts['topic']): boolean {
  if (one === undefined || other === undefined) return one === other;
  const isSameList =
    one.changes === null || other.changes === null
      ? one.changes === other.changes
      : sameList(one.changes, other.changes);
  return one.name === other.name && isSameList;
}

function factsOf(record: ChangeRecord, deps: ChangeFactsDeps, now: Nanoseconds): ChangeFacts {
  const { pipeline } = deps;
  const { connection } = projectIdOf(record.change.project);
  return {
    record,
    requirements: requirementsOf(record, deps, now),
    ...landingVerdict(record, deps, deps.driverOf(connection)),
    dependents: dependentsOf(record, deps),
    ...topicOf(record, deps),
    queue: deps.queueOf(record.change),
    connectionAllowed: pipeline.allowOtherConnections || namesConnection(pipeline, connection),
  };
}

function dependentsOf(
  { change }: ChangeRecord,
  { pipeline, dependentsOf: known }: ChangeFactsDeps,
): readonly ChangeKey[] {
  if (change.kind !== 'change' || !MANAGERS[pipeline.manager].bringsDependents) return [];
  const found = known(change.key);
  return found.length < 2 ? found : found.toSorted(byKey);
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
  { queueOf, sameTopic: changesOfTopic }: ChangeFactsDeps,
): Pick<ChangeFacts, 'topic'> {
  const { change, status, topic } = record;
  if (topic === undefined || status !== 'open') return {};
  if (!topic.landsWhole && queueOf(change)?.byTopic !== true) return {};
  return {
    topic: { name: topic.name, changes: topic.isTooLarge === true ? null : changesOfTopic(record) },
  };
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

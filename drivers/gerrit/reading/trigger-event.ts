/** What happened, as trigger events, numbered in order: repeating the processing after a crash gives the same uuids. */
import { derivedUuid, spanIdOf, traceIdOf } from '../../../src/lib/ids.ts';
import { targetBranchOf } from '../../../src/model/change.ts';
import type { ConnectionEvent, TriggerEvent } from '../../../src/model/event.ts';
import type { Json } from '../../../src/model/job.ts';
import type { GerritEventFacts } from '../language/event-facts.ts';
import type { GerritHappening } from './processing.ts';

/** As written in `[connection NAME] driver`, and recorded in events. */
export const GERRIT_DRIVER_NAME = 'gerrit';

/** @param happened in order: a uuid follows from the place in it. */
export function gerritTriggerEvents(
  event: ConnectionEvent,
  happened: readonly GerritHappening[],
): readonly TriggerEvent[] {
  return happened.map(
    ({ type, change, facts, configMayHaveChanged = [], branchesChanged = false }, ordinal) => ({
      uuid: derivedUuid(event.uuid, 'trigger', String(ordinal)),
      connection: event.connection,
      driver: GERRIT_DRIVER_NAME,
      type,
      project: change.project,
      branch: targetBranchOf(change) ?? null,
      ref: change.ref,
      change,
      facts: factsJson(facts),
      configMayHaveChanged,
      branchesChanged,
      receivedAt: event.receivedAt,
      sampled: event.sampled,
      // The root of the event's trace.
      span: { traceId: traceIdOf(event.uuid), spanId: spanIdOf(event.uuid) },
    }),
  );
}

function factsJson(facts: GerritEventFacts): Json {
  return JSON.parse(JSON.stringify(facts));
}

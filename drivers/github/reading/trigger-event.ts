/** What happened, as trigger events, numbered in order: repeating the processing after a crash gives the same uuids. */
import { derivedUuid, spanIdOf, traceIdOf } from '../../../src/lib/ids.ts';
import { type Change, targetBranchOf } from '../../../src/model/change.ts';
import type { ConnectionEvent, TriggerEvent } from '../../../src/model/event.ts';
import type { GithubEventFacts } from '../language/event-facts.ts';

/** As written in `[connection NAME] driver`, and recorded in events. */
export const GITHUB_DRIVER_NAME = 'github';

/** An event without what it has in common with all others. */
export interface GithubHappening {
  readonly type: string;
  readonly change: Change;
  /** Null: it only makes the tenants read configuration or branches again. */
  readonly facts: GithubEventFacts | null;
  readonly tree?: string;
  /** As in `TriggerEvent`. */
  readonly ownReport?: string;
  readonly configMayHaveChanged?: readonly string[];
  readonly branchesChanged?: boolean;
}

/** @param happened in order: a uuid follows from the place in it. */
export function githubTriggerEvents(
  event: ConnectionEvent,
  happened: readonly GithubHappening[],
): readonly TriggerEvent[] {
  return happened.map(
    (
      { type, change, facts, tree, ownReport, configMayHaveChanged = [], branchesChanged = false },
      ordinal,
    ) => ({
      uuid: derivedUuid(event.uuid, 'trigger', String(ordinal)),
      connection: event.connection,
      driver: GITHUB_DRIVER_NAME,
      type,
      project: change.project,
      branch: targetBranchOf(change) ?? null,
      ref: change.ref,
      change,
      ...(tree === undefined ? {} : { tree }),
      facts: facts ?? {},
      ...(ownReport === undefined ? {} : { ownReport }),
      configMayHaveChanged,
      branchesChanged,
      receivedAt: event.receivedAt,
      sampled: event.sampled,
      // The root of the event's trace.
      span: { traceId: traceIdOf(event.uuid), spanId: spanIdOf(event.uuid) },
    }),
  );
}

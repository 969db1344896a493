/** Changes as trigger events, numbered in order: repeating the processing after a crash gives the same uuids. */
import { assertNever } from '../../src/lib/assert-never.ts';
import { derivedUuid, spanIdOf, traceIdOf } from '../../src/lib/ids.ts';
import type { Change } from '../../src/model/change.ts';
import type { ConnectionEvent, TriggerEvent } from '../../src/model/event.ts';
import type { ProjectKey } from '../../src/model/project.ts';
import type { ProjectChange, RefMove } from './ref-changes.ts';
import { refUpdate } from './ref-update.ts';

/** As written in `[connection NAME] driver`, and recorded in events. */
export const DRIVER_NAME = 'git';

type EventPart = Pick<TriggerEvent, 'type' | 'change' | 'facts' | 'configMayHaveChanged' | 'branchesChanged'>;

/** @param changes in the order of `ref-changes.ts`: a uuid follows from the place in it. */
export function triggerEventsOf(
  event: ConnectionEvent,
  project: ProjectKey,
  changes: readonly ProjectChange[],
): readonly TriggerEvent[] {
  return changes.map((each, ordinal) => {
    const part = partOf(each, project);
    return {
      ...part,
      uuid: derivedUuid(event.uuid, 'trigger', String(ordinal)),
      connection: event.connection,
      driver: DRIVER_NAME,
      project,
      branch: part.change.branch ?? null,
      ref: part.change.ref,
      receivedAt: event.receivedAt,
      sampled: event.sampled,
      // The root of the event's trace.
      span: { traceId: traceIdOf(event.uuid), spanId: spanIdOf(event.uuid) },
    };
  });
}

function partOf(change: ProjectChange, project: ProjectKey): EventPart {
  switch (change.kind) {
    case 'ref-updated':
      return ofMove(change.move, project);
    case 'proposed':
      return about(change.record.change, 'proposed', { updated: change.again });
    case 'approved':
    case 'abandoned':
      return about(change.record.change, change.kind, {});
    default:
      return assertNever(change);
  }
}

function about(change: Change, type: string, facts: TriggerEvent['facts']): EventPart {
  return { type, change, facts, configMayHaveChanged: [], branchesChanged: false };
}

function ofMove(move: RefMove, project: ProjectKey): EventPart {
  const { branch, before, after } = move;
  const isBranch = branch !== undefined;
  return {
    type: 'ref-updated',
    change: refUpdate(move, project),
    facts: { deleted: after === null, created: before === null },
    // Does not check whether a configuration file changed: reading one branch again is cheap.
    configMayHaveChanged: isBranch && after !== null ? [branch] : [],
    branchesChanged: isBranch && (before === null || after === null),
  };
}

/** Changes as trigger events. */
import { triggerEvents } from '../../src/driver/answer-event.ts';
import type { HostHappening } from '../../src/driver/host-finding.ts';
import { refUpdate } from '../../src/driver/ref-update.ts';
import { assertNever } from '../../src/lib/assert-never.ts';
import type { Change } from '../../src/model/change.ts';
import type { ConnectionEvent, TriggerEvent } from '../../src/model/event.ts';
import type { ProjectKey } from '../../src/model/project.ts';
import type { ProjectChange, RefMove } from './ref-changes.ts';

/** As written in `[connection NAME] driver`, and recorded in events. */
export const DRIVER_NAME = 'git';

/** @param changes in the order of `ref-changes.ts`: a uuid follows from the place in it. */
export function triggerEventsOf(
  event: ConnectionEvent,
  project: ProjectKey,
  changes: readonly ProjectChange[],
): readonly TriggerEvent[] {
  return triggerEvents(
    event,
    DRIVER_NAME,
    changes.map(each => partOf(each, project)),
  );
}

function partOf(change: ProjectChange, project: ProjectKey): HostHappening {
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

function about(change: Change, type: string, facts: TriggerEvent['facts']): HostHappening {
  return { type, change, facts };
}

function ofMove(move: RefMove, project: ProjectKey): HostHappening {
  const { branch, before, after } = move;
  const isBranch = branch !== undefined;
  return {
    type: 'ref-updated',
    change: refUpdate(project, move),
    facts: { deleted: after === null, created: before === null },
    // Does not check whether a configuration file changed: reading one branch again is cheap.
    configMayHaveChanged: isBranch && after !== null ? [branch] : [],
    branchesChanged: isBranch && (before === null || after === null),
  };
}

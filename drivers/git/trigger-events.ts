/** News as trigger events, numbered in their order: repeating the processing after a crash gives the same uuids. */
import { assertNever } from '../../src/lib/assert-never.ts';
import { derivedUuid, spanIdOf, traceIdOf } from '../../src/lib/ids.ts';
import type { Change } from '../../src/model/change.ts';
import type { ConnectionEvent, TriggerEvent } from '../../src/model/event.ts';
import type { ProjectKey } from '../../src/model/project.ts';
import type { RefMove, RefNews } from './ref-news.ts';
import { refUpdate } from './ref-update.ts';

export const DRIVER_NAME = 'git';

type Told = Pick<TriggerEvent, 'type' | 'change' | 'facts' | 'configMayHaveChanged' | 'branchesChanged'>;

export function triggerEventsOf(
  event: ConnectionEvent,
  project: ProjectKey,
  news: readonly RefNews[],
): readonly TriggerEvent[] {
  return news.map((each, ordinal) => {
    const told = tell(each, project);
    return {
      ...told,
      uuid: derivedUuid(event.uuid, 'trigger', String(ordinal)),
      connection: event.connection,
      driver: DRIVER_NAME,
      project,
      branch: told.change.branch ?? null,
      ref: told.change.ref,
      receivedAt: event.receivedAt,
      sampled: event.sampled,
      // Of the ingestion trace, whose root is the connection event.
      span: { traceId: traceIdOf(event.uuid), spanId: spanIdOf(event.uuid) },
    };
  });
}

function tell(news: RefNews, project: ProjectKey): Told {
  switch (news.kind) {
    case 'ref-updated':
      return tellMove(news.move, project);
    case 'proposed':
      return about(news.record.change, 'proposed', { updated: news.again });
    case 'approved':
    case 'abandoned':
      return about(news.record.change, news.kind, {});
    default:
      return assertNever(news);
  }
}

function about(change: Change, type: string, facts: TriggerEvent['facts']): Told {
  return { type, change, facts, configMayHaveChanged: [], branchesChanged: false };
}

function tellMove(move: RefMove, project: ProjectKey): Told {
  const { branch, before, after } = move;
  const isBranch = branch !== undefined;
  return {
    type: 'ref-updated',
    change: refUpdate(move, project),
    facts: { deleted: after === null, created: before === null },
    // Whether a file of configuration is among the changed ones is not asked: reading one branch again is cheap.
    configMayHaveChanged: isBranch && after !== null ? [branch] : [],
    branchesChanged: isBranch && (before === null || after === null),
  };
}

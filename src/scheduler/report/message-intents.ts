/**
 * Reports to connections that only take reports (`src/driver/messenger.ts`): one intent for each, beside the report that the item waits
 * for, in an outbox of its own. Older processes do not look there, and leave what they cannot send.
 */
import { isMapping } from '../../driver/read-mapping.ts';
import { derivedUuid } from '../../lib/ids.ts';
import type { Change } from '../../model/change.ts';
import type { Json } from '../../model/job.ts';
import type { ConnectionName } from '../../model/project.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import type { ReportIntent } from '../../model/report-intent.ts';
import type { Command } from '../../pipeline/turn.ts';
import type { ReportContext } from './report-intents.ts';
import { reportedItem } from './reported-item.ts';

type ReportCommand = Extract<Command, { kind: 'report' }>;

/**
 * @param about what the report is about: the lead change, and the item; null: nothing was enqueued.
 * @param intent of the report at the code host, which says the same.
 */
export function messageIntents(
  { report, action }: ReportCommand,
  about: { readonly change: Change; readonly item: QueueItem | null },
  { parts: _, awaited: __, together: ___, repeats: ____, ...intent }: ReportIntent,
  context: ReportContext & { readonly messengers: ReadonlySet<ConnectionName> },
): readonly ReportIntent[] {
  const { change, item } = about;
  const reporters = context.pipeline.reporters[action].filter(each =>
    context.messengers.has(each.connection),
  );
  const detailsWith = (withData: boolean) =>
    item === null ? intent.details : { ...intent.details, reported: reportedItem(item, context, withData) };
  return reporters.map(({ connection, config }, index) => ({
    ...intent,
    uuid: derivedUuid(report, 'message', connection, String(index)),
    details: detailsWith(asksForData(config)),
    answered: true,
    parts: [{ connection, config, merges: false, change }],
  }));
}

/** Zuul's key, for any connection whose messages can hold data. @param config as the driver read it. */
function asksForData(config: Json): boolean {
  return isMapping(config) && config['include-returned-data'] === true;
}

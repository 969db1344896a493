/** Turns the report commands of a turn into self-contained intents for the report outbox. */
import type { Nanoseconds } from '../../lib/clock.ts';
import { testedMergeOf } from '../../model/build-set.ts';
import { type Change, commitOf } from '../../model/change.ts';
import { earlierReports } from '../../model/earlier-reports.ts';
import type { LandingMode } from '../../model/landed.ts';
import type { MergedBranch } from '../../model/merge.ts';
import type { DriverConfig, ReportAction } from '../../model/pipeline.ts';
import { type ConnectionName, projectIdOf } from '../../model/project.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import type { ReportIntent } from '../../model/report-intent.ts';
import type { Command } from '../../pipeline/turn.ts';
import { itemReport, type ReportOccasion, type ReportSurroundings, refusalReport } from './report-facts.ts';
import { storedReport } from './stored-report.ts';

type ReportCommand = Extract<Command, { kind: 'report' }>;

/** `now` is the time at which the report is requested. */
export interface ReportContext extends ReportSurroundings {
  readonly now: Nanoseconds;
  /** As that connection's driver says; null: this reporter does not land the change. */
  landingMode(reporter: DriverConfig): LandingMode | null;
}

/** The intent for a report about an item. @param item as it is when the report is requested. */
export function itemReportIntent(
  command: ReportCommand,
  item: QueueItem,
  context: ReportContext,
): ReportIntent {
  const parts = item.changes.flatMap(change => partsFor(command.action, change, item, context));
  const own = item.reports.findIndex(({ uuid }) => uuid === command.report);
  const earlier = own < 0 ? item.reports : item.reports.slice(0, own);
  return {
    uuid: command.report,
    ...storedReport(itemReport(occasionOf(command), item, context)),
    ...(command.awaited ? { awaited: true } : {}),
    ...(earlier.some(record => mayHaveArrived(record, command)) ? { repeats: true } : {}),
    ...(command.together === undefined ? {} : { together: command.together }),
    requestedAt: context.now,
    parts: withEarlier(landingFirst(parts), earlier),
  };
}

/** The same report, after which the host was away: what it was sent may have reached it. */
function mayHaveArrived({ action, done }: QueueItem['reports'][number], command: ReportCommand): boolean {
  return action === command.action && (done?.parts ?? []).some(({ reason }) => reason === 'host');
}

/** Of several parts of one connection about one change, the first knows what there is at the host. */
function withEarlier(parts: ReportIntent['parts'], reports: QueueItem['reports']): ReportIntent['parts'] {
  const begun = new Set<string>();
  return parts.map(part => {
    const { connection, change } = part;
    const key = JSON.stringify([connection, change.key]);
    const earlier = begun.has(key) ? undefined : earlierReports(reports, { connection, change: change.key });
    begun.add(key);
    return earlier === undefined ? part : { ...part, earlier };
  });
}

/** The intent for a refusal: nothing was enqueued, and the author of the change should know why. */
export function refusalReportIntent(
  command: ReportCommand,
  change: Change,
  context: ReportContext,
): ReportIntent {
  return {
    uuid: command.report,
    ...storedReport(refusalReport(occasionOf(command), change, context)),
    requestedAt: context.now,
    parts: partsFor(command.action, change, null, context).filter(part => !part.merges),
  };
}

function occasionOf({ action, result, text }: ReportCommand): ReportOccasion {
  return { action, result: result ?? '', ...(text === undefined ? {} : { text }) };
}

function partsFor(
  action: ReportAction,
  change: Change,
  item: QueueItem | null,
  context: ReportContext,
): ReportIntent['parts'] {
  const connection: ConnectionName = projectIdOf(change.project).connection;
  const tested =
    item === null
      ? undefined
      : testedMergeOf(item.buildset)?.branches.find(
          each => each.project === change.project && each.branch === change.branch,
        );
  return context.pipeline.reporters[action]
    .filter(reporter => reporter.connection === connection)
    .map(reporter => ({ reporter, mode: context.landingMode(reporter) }))
    .map(({ reporter, mode }) => ({
      connection,
      config: reporter.config,
      merges: mode !== null,
      ...(mode === null ? {} : { mode }),
      change,
      ...(tested === undefined ? {} : { tested: withoutRecipe(tested, change) }),
    }));
}

/** Landing needs the commit and how the change itself was merged, not every change ahead. */
function withoutRecipe({ inputs, recipe: _, ...tested }: MergedBranch, change: Change): MergedBranch {
  const own = inputs?.findLast(input => input.commit === commitOf(change) && input.ref === change.ref);
  return own === undefined ? tested : { ...tested, inputs: [own] };
}

/** A success is announced only after the change has landed. */
function landingFirst(parts: ReportIntent['parts']): ReportIntent['parts'] {
  return [...parts.filter(part => part.merges), ...parts.filter(part => !part.merges)];
}

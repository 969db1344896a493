/** Report commands of a turn, turned into self-contained intents for the report outbox. */
import type { Nanoseconds } from '../../lib/clock.ts';
import { testedMergeOf } from '../../model/build-set.ts';
import type { Change } from '../../model/change.ts';
import type { FrozenJob } from '../../model/job.ts';
import type { LandingMode } from '../../model/landed.ts';
import type { MergedBranch } from '../../model/merge.ts';
import type { DriverConfig, Pipeline, ReportAction } from '../../model/pipeline.ts';
import { type ConnectionName, projectIdOf } from '../../model/project.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import type { ReportIntent } from '../../model/report-intent.ts';
import type { Command } from '../../pipeline/turn.ts';
import { itemPage } from '../pages.ts';
import { headline, reportMessage } from './report-message.ts';

type ReportCommand = Extract<Command, { kind: 'report' }>;

export interface ReportContext {
  readonly now: Nanoseconds;
  readonly root: string;
  readonly tenant: string;
  readonly pipeline: Pipeline;
  readonly jobs: readonly FrozenJob[];
  /** Of the item in the trace viewer; null: nobody could follow it. */
  readonly traceUrl: string | null;
  /** As that connection's driver says; null: this reporter does not land the change. */
  landingMode(reporter: DriverConfig): LandingMode | null;
}

/** The intent for a report about an item; `item` is the item as it is when the report is asked for. */
export function itemReportIntent(
  command: ReportCommand,
  item: QueueItem,
  context: ReportContext,
): ReportIntent {
  const message = reportMessage(command.action, item, {
    root: context.root,
    pipeline: context.pipeline,
    jobs: context.jobs,
    traceUrl: context.traceUrl,
    ...(command.text === undefined ? {} : { text: command.text }),
  });
  const parts = item.changes.flatMap(change => partsFor(command.action, change, item, context));
  return {
    uuid: command.report,
    tenant: context.tenant,
    pipeline: context.pipeline.name,
    item: item.uuid,
    ...(command.awaited ? { awaited: true } : {}),
    action: command.action,
    result: command.result ?? '',
    requestedAt: context.now,
    message,
    url: itemPage(context.root, item.tenant, item.uuid),
    parts: landingFirst(parts),
  };
}

/** The intent for a refusal: nothing was enqueued, the change's author should know why. */
export function refusalReportIntent(
  command: ReportCommand,
  change: Change,
  context: ReportContext,
): ReportIntent {
  const message = [headline(command.action, context.pipeline), '', command.text ?? ''].join('\n');
  return {
    uuid: command.report,
    tenant: context.tenant,
    pipeline: context.pipeline.name,
    item: null,
    action: command.action,
    result: command.result ?? '',
    requestedAt: context.now,
    message,
    url: `${context.root}/t/${encodeURIComponent(context.tenant)}/status`,
    parts: partsFor(command.action, change, null, context).filter(part => !part.merges),
  };
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
      ...(tested === undefined ? {} : { tested: withoutRecipe(tested) }),
    }));
}

/** Whoever lands it needs the commit, not every change it was made of. */
function withoutRecipe({ inputs: _, ...tested }: MergedBranch): MergedBranch {
  return tested;
}

/** A success is announced only after the change has landed. */
function landingFirst(parts: ReportIntent['parts']): ReportIntent['parts'] {
  return [...parts.filter(part => part.merges), ...parts.filter(part => !part.merges)];
}

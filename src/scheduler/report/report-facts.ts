/**
 * The data of a report about an item. A failure has only the first reason that applies: what the caller gives, a
 * conflict, the configuration, no jobs; otherwise the jobs are the reason.
 */

import { parseFormat } from '../../lib/format-text.ts';
import { changeOfJob } from '../../model/about-item.ts';
import { type Build, resultOf, returnedBy, skipText } from '../../model/build.ts';
import { currentBuild, graphOf, testedBeforeOf } from '../../model/build-set.ts';
import { resetText } from '../../model/cause.ts';
import { type Change, targetBranchOf } from '../../model/change.ts';
import type { ConfigError } from '../../model/config-error.ts';
import type { FrozenJob, JobNode } from '../../model/job.ts';
import { itemFields } from '../../model/message-fields.ts';
import { buildPage, itemPage, statusPage } from '../../model/page-addresses.ts';
import type { Pipeline, ReportAction } from '../../model/pipeline.ts';
import type { PipelineName, TenantName } from '../../model/project.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import type { FileComment, ReportedJob, ReportReason } from '../../model/report.ts';
import { HAS_FIELDS, MESSAGE_FIELDS } from '../../model/report-messages.ts';
import type { ReportFacts } from './report-text.ts';

/** What the turn decided about the report. */
export interface ReportOccasion {
  readonly action: ReportAction;
  /** In Zuul's words; empty for start and enqueue. */
  readonly result: string;
  /** Replaces any other reason, e.g. of a refusal. */
  readonly text?: string;
}

/** What a report says that is not in the item. */
export interface ReportSurroundings {
  /** Public URL of the service, without a trailing slash. */
  readonly root: string;
  readonly tenant: TenantName;
  readonly pipeline: Pipeline;
  /** As frozen for the item. */
  readonly jobs: readonly FrozenJob[];
  /** Of the item in the trace viewer; null: no trace that readers can open. */
  readonly traceUrl: string | null;
}

/** @param item as it is when the report is requested: the report does not change with it afterwards. */
export function itemReport(
  { action, result, text }: ReportOccasion,
  item: QueueItem,
  around: ReportSurroundings,
): ReportFacts {
  const { pipeline, tenant, root, traceUrl } = around;
  const { configErrors } = item.buildset;
  return {
    action,
    result,
    item: item.uuid,
    place: {
      tenant,
      pipeline: pipeline.name,
      queue: { name: item.queue, entryPosition: item.position ?? null },
    },
    changes: item.changes,
    headline: headline(action, item.changes, itemPage(root, item.tenant, item.uuid), around),
    reason: text === undefined ? reasonOf(action, item, root) : { kind: 'refused', text },
    jobs: (graphOf(item.buildset)?.jobs ?? []).map(node => reportedJob(node, item, around)),
    fileComments: [
      ...configErrors.flatMap(error => fileComment(error, item.changes)),
      ...returnedComments(action, item),
    ],
    retests: retestsOf(item),
    ...warningsOf(action, item),
    urls: { item: itemPage(root, item.tenant, item.uuid), trace: traceUrl },
    ...footerOf(pipeline),
  };
}

/** Nothing was enqueued, and the change's author should know why. */
export function refusalReport(
  { action, result, text = '' }: ReportOccasion,
  change: Change,
  { pipeline, tenant, root }: ReportSurroundings,
): ReportFacts {
  return {
    action,
    result,
    item: null,
    place: { tenant, pipeline: pipeline.name, queue: null },
    changes: [change],
    headline: headline(action, [change], statusPage(root, tenant), { root, tenant, pipeline }),
    reason: { kind: 'refused', text },
    jobs: [],
    fileComments: [],
    retests: [],
    urls: { item: statusPage(root, tenant), trace: null },
    ...footerOf(pipeline),
  };
}

function footerOf({ messages }: Pipeline): Pick<ReportFacts, 'footer'> {
  return messages.footer === undefined || messages.footer === '' ? {} : { footer: messages.footer };
}

type Place = Pick<ReportSurroundings, 'root' | 'tenant' | 'pipeline'>;

/** @param itemUrl where it is to be read about. */
function headline(action: ReportAction, changes: readonly Change[], itemUrl: string, place: Place): string {
  const { name, messages } = place.pipeline;
  const own = messages[action];
  return own === undefined ? usualHeadline(action, name) : filled(action, own, changes, itemUrl, place);
}

function filled(
  action: ReportAction,
  message: string,
  changes: readonly Change[],
  itemUrl: string,
  { root, tenant, pipeline }: Place,
): string {
  const format = HAS_FIELDS.has(action) ? parseFormat(message, MESSAGE_FIELDS) : undefined;
  if (format?.kind !== 'format') return message;
  const fields = itemFields(pipeline.name, changes);
  return format.fill({ ...fields, item_url: itemUrl, status_url: statusPage(root, tenant) });
}

function usualHeadline(action: ReportAction, name: PipelineName): string {
  const texts: { readonly [action in ReportAction]: string } = {
    enqueue: `Enqueued (${name}).`,
    start: `Starting ${name} jobs.`,
    success: `Build succeeded (${name}).`,
    failure: `Build failed (${name}).`,
    'merge-conflict': `Merge failed (${name}): the change or one of its dependencies conflicts with the branch or a change ahead of it.`,
    'config-error': `The configuration in this change is not valid (${name}).`,
    'no-jobs': `No jobs ran (${name}).`,
    dequeue: `Build canceled (${name}).`,
    disabled: `Build finished (${name}; the pipeline is disabled after repeated failures).`,
  };
  return texts[action];
}

function reasonOf(
  action: ReportAction,
  { buildset, pipeline, tenant }: QueueItem,
  root: string,
): ReportReason | null {
  const { conflict, configErrors } = buildset;
  const testedBefore = testedBeforeOf(buildset);
  if (testedBefore !== null) return { kind: 'tested-before', url: itemPage(root, tenant, testedBefore.item) };
  if (conflict !== null) {
    const { project, files } = conflict;
    if (conflict.reason !== undefined) return { kind: 'refused', text: `The change ${conflict.reason}.` };
    return {
      kind: 'conflict',
      project,
      files,
      ...(conflict.with === undefined ? {} : { with: conflict.with }),
    };
  }
  if (configErrors.length > 0) return { kind: 'configuration', errors: configErrors };
  if (action !== 'no-jobs') return null;
  const text =
    graphOf(buildset) === null
      ? `The project takes no part in pipeline ${pipeline}.`
      : 'No job of this pipeline matches what the change touches.';
  return { kind: 'no-jobs', text };
}

function reportedJob(
  { name, voting }: JobNode,
  item: QueueItem,
  { root, jobs }: ReportSurroundings,
): ReportedJob {
  const build = currentBuild(item.buildset, name);
  if (build === undefined) return { name, result: null, voting, url: null, startedAt: null, endedAt: null };
  const result = resultOf(build) ?? null;
  const job = jobs.find(each => each.name === name);
  const message =
    result === 'SUCCESS' ? job?.successMessage : result === 'FAILURE' ? job?.failureMessage : undefined;
  return {
    name,
    result,
    voting: build.voting,
    url: buildPage(root, item.tenant, build.uuid),
    ...ranFrom(build),
    ...(message === undefined ? {} : { message }),
    ...detailOf(build),
  };
}

function ranFrom({ state }: Build): Pick<ReportedJob, 'startedAt' | 'endedAt'> {
  const hasRun = state.state === 'completed' && state.startedAt !== null;
  return hasRun ? { startedAt: state.startedAt, endedAt: state.at } : { startedAt: null, endedAt: null };
}

function detailOf({ state }: Build): Pick<ReportedJob, 'detail'> {
  if (state.state === 'skipped')
    return { detail: state.filtered === undefined ? `because of ${state.because}` : skipText(state) };
  return state.state === 'completed' && state.detail !== undefined ? { detail: state.detail } : {};
}

/** More are with their builds. */
const SHOWN_WARNINGS = 10;

function warningsOf(action: ReportAction, { buildset }: QueueItem): Pick<ReportFacts, 'warnings'> {
  if (action === 'start' || action === 'enqueue') return {};
  const all = (graphOf(buildset)?.jobs ?? []).flatMap(({ name }) => {
    const build = currentBuild(buildset, name);
    const { warnings = [] } = (build === undefined ? undefined : returnedBy(build)) ?? {};
    return warnings.map(text => `${name}: ${text.replace(/\s+/g, ' ').trim()}`);
  });
  const shown = all.slice(0, SHOWN_WARNINGS);
  const more = all.length - shown.length;
  return shown.length === 0 ? {} : { warnings: more === 0 ? shown : [...shown, `and ${more} more`] };
}

/** Only errors in what one of the changes is made for: the host has no place for others. */
function fileComment(
  { project, branch, file, line, severity, text }: ConfigError,
  changes: readonly Change[],
): readonly FileComment[] {
  const isTheirs = changes.some(change => change.project === project && targetBranchOf(change) === branch);
  return project === undefined || branch === undefined || !isTheirs
    ? []
    : [{ project, branch, file, line, severity, text }];
}

/** Of one report: it is stored until it is carried out. */
const MOST_COMMENTS = 200;

/** Each is about the change of the job that returned it. */
function returnedComments(action: ReportAction, item: QueueItem): readonly FileComment[] {
  if (action === 'start' || action === 'enqueue') return [];
  const all = (graphOf(item.buildset)?.jobs ?? []).flatMap(job => {
    const build = currentBuild(item.buildset, job.name);
    const { fileComments = [] } = (build === undefined ? undefined : returnedBy(build)) ?? {};
    const { project, ...change } = changeOfJob(item, job);
    const branch = change.kind === 'change' ? change.branch : undefined;
    if (branch === undefined) return [];
    return fileComments.map(
      ({ file, line, level, message, range }): FileComment => ({
        ...{ project, branch, file, line, severity: level, text: message, job: job.name },
        ...(range === undefined ? {} : { range }),
      }),
    );
  });
  return all.slice(0, MOST_COMMENTS);
}

/** Why each buildset but the first was made. */
function retestsOf({ earlier, buildset }: QueueItem): readonly string[] {
  if (earlier.length === 0) return [];
  return [...earlier.slice(1), buildset].flatMap(({ cause }) => (cause === null ? [] : [resetText(cause)]));
}

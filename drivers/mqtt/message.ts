/** A report as a message, in the words of Zuul's schema. Pure. */
import { parsedBefore } from '../../src/driver/read-mapping.ts';
import type { ReportRequest } from '../../src/driver/reporter.ts';
import type { Nanoseconds } from '../../src/lib/clock.ts';
import { parseFormat } from '../../src/lib/format-text.ts';
import { type Change, commitOf } from '../../src/model/change.ts';
import type { Json } from '../../src/model/job.ts';
import { itemFields } from '../../src/model/message-fields.ts';
import { projectIdOf } from '../../src/model/project.ts';
import type { Report, ReportedBuild, ReportedItem } from '../../src/model/report.ts';
import { parseTopicReporter, TOPIC_FIELDS } from './reporter-config.ts';

/** What is published. */
export interface Message {
  readonly topic: string;
  readonly qos: 0 | 1 | 2;
  /** JSON. */
  readonly payload: string;
}

const LONGEST_TOPIC = 65_535;

/** @param request its `config` as {@link parseTopicReporter} returned it. @param now when it is sent. */
export function messageOf(request: ReportRequest, now: Nanoseconds): Message {
  const { topic, qos } = parsedBefore(parseTopicReporter(request.config));
  const { report, change } = request;
  const changes = report.changes.length === 0 ? [change] : report.changes;
  const lead = changes[0] ?? change;
  return {
    topic: topicOf(topic, report, changes, lead),
    qos,
    payload: JSON.stringify(bodyOf(report, changes, lead, now)),
  };
}

/** Wildcards of subscribers, and control characters, have no place in a topic. */
function topicOf(topic: string, { place }: Report, changes: readonly Change[], lead: Change): string {
  const format = parseFormat(topic, TOPIC_FIELDS);
  const { project, branch, change, patchset, ref } = changeBody(lead);
  const fields = { tenant: place.tenant, pipeline: place.pipeline, project, branch, change, patchset, ref };
  const { changes: all = '' } = itemFields(place.pipeline, changes);
  const filled = format.kind === 'format' ? format.fill({ ...fields, changes: all }) : topic;
  return filled
    .replace(/[+#\p{Cc}]/gu, '_')
    .replace(/^\$/, '_')
    .slice(0, LONGEST_TOPIC / 4);
}

function bodyOf(report: Report, changes: readonly Change[], lead: Change, now: Nanoseconds): Json {
  const { action, item, place, reported } = report;
  return {
    timestamp: seconds(now),
    ...{ action, tenant: place.tenant, pipeline: place.pipeline },
    changes: changes.map(changeBody),
    ...changeBody(lead),
    message: messageText(report),
    uuid: item,
    zuul_ref: reported === undefined ? null : `Z${reported.buildset}`,
    trigger_time: reported === undefined ? null : seconds(reported.receivedAt),
    enqueue_time: reported === undefined ? null : seconds(reported.enqueuedAt),
    zuul_event_id: reported?.event ?? null,
    buildset: reported === undefined ? null : buildsetBody(report, reported, lead),
  };
}

function changeBody(change: Change) {
  return {
    project: projectIdOf(change.project).name,
    branch: change.branch ?? '',
    change_url: change.url ?? null,
    change: change.kind === 'change' ? change.id : '',
    patchset: change.kind === 'change' ? change.patchset : '',
    commit_id: commitOf(change) ?? '',
    owner: (change.kind === 'change' ? change.owner : undefined) ?? '',
    ref: change.ref,
  };
}

/** Without the jobs, which are in the message anyway. */
function messageText({ headline, reason, footer }: Report): string {
  const why = reason?.kind === 'refused' || reason?.kind === 'no-jobs' ? [reason.text] : [];
  return [headline, ...why, footer ?? ''].filter(each => each !== '').join('\n');
}

function buildsetBody({ result, action }: Report, { buildset, builds, retried }: ReportedItem, lead: Change) {
  const isBeginning = action === 'start' || action === 'enqueue';
  return {
    uuid: buildset,
    result: result === '' ? null : result,
    builds: builds.map(build => ({ ...jobBody(build), ...(isBeginning ? {} : buildBody(build, lead)) })),
    retry_builds: retried.map(build => ({ ...jobBody(build), ...timesBody(build) })),
  };
}

function jobBody({ job, voting }: ReportedBuild) {
  return { job_name: job, voting };
}

function buildBody(build: ReportedBuild, lead: Change) {
  if (build.uuid === null) return {};
  return {
    change: changeBody(lead),
    ...timesBody(build),
    execute_time: build.requestedAt === null ? null : seconds(build.requestedAt),
    dependencies: [...build.dependencies],
    artifacts: (build.artifacts ?? []).map(artifactBody),
    ...(build.data === undefined ? {} : { returned_data: build.data }),
  };
}

function artifactBody({ name, url, metadata }: NonNullable<ReportedBuild['artifacts']>[number]) {
  return { name, url, ...(metadata === undefined ? {} : { metadata }) };
}

function timesBody({ uuid, startedAt, endedAt, log, url, result }: ReportedBuild) {
  return {
    uuid,
    start_time: startedAt === null ? null : seconds(startedAt),
    end_time: endedAt === null ? null : seconds(endedAt),
    log_url: log,
    web_url: url,
    result,
  };
}

/** Since 1970. */
function seconds(time: Nanoseconds): number {
  return Number(BigInt(time) / 1_000n) / 1_000_000;
}

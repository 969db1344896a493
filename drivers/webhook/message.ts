/** A report as the body of a request. Pure. */
import { createHmac } from 'node:crypto';
import { parsedBefore } from '../../src/driver/read-mapping.ts';
import { reportLine } from '../../src/driver/report-line.ts';
import type { ReportRequest } from '../../src/driver/reporter.ts';
import { messageKey } from '../../src/driver/unconfirmed.ts';
import type { Nanoseconds } from '../../src/lib/clock.ts';
import { millisecondsBetween, toMilliseconds } from '../../src/lib/clock.ts';
import { cutAtLine } from '../../src/lib/cut-text.ts';
import { type Change, commitOf } from '../../src/model/change.ts';
import { projectIdOf } from '../../src/model/project.ts';
import type { Report, ReportedJob } from '../../src/model/report.ts';
import type { WebhookOptions } from './options.ts';
import { parseWebhookReporter, type WebhookReporter } from './reporter-config.ts';

/** What is posted. */
export interface PostedMessage {
  readonly headers: { readonly [name: string]: string };
  /** JSON. */
  readonly body: string;
}

const LONGEST_TEXT = 20_000;

/** @param request its `config` as {@link parseWebhookReporter} returned it. @param now when it is sent. */
export function postedMessage(
  request: ReportRequest,
  { format, secret }: Pick<WebhookOptions, 'format' | 'secret'>,
  now: Nanoseconds,
): PostedMessage {
  const { report, change } = request;
  const changes = report.changes.length === 0 ? [change] : report.changes;
  const key = messageKey(request);
  const body = JSON.stringify(
    format === 'slack'
      ? chatBody(report, changes, parsedBefore(parseWebhookReporter(request.config)))
      : jsonBody(report, changes, key, now),
  );
  const signature =
    secret === undefined ? undefined : createHmac('sha256', secret.reveal()).update(body).digest('hex');
  return {
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'x-gatehouse-event': report.notice?.event ?? report.action,
      'x-gatehouse-delivery': key,
      ...(signature === undefined ? {} : { 'x-gatehouse-signature-256': `sha256=${signature}` }),
    },
    body,
  };
}

/** Mattermost and Rocket.Chat read the same. */
function chatBody(report: Report, changes: readonly Change[], { channel, mention }: WebhookReporter) {
  const before = mention === undefined ? '' : `${mention} `;
  return {
    text: `${before}${plain(reportLine(report, changes))} <${report.urls.item}|details>`,
    // Slack would fetch what links lead to, and show it below the line.
    ...{ unfurl_links: false, unfurl_media: false },
    ...(channel === undefined ? {} : { channel }),
  };
}

/**
 * What a stranger wrote neither mentions people nor makes a link: `<!channel>`, `@here`, `[text](address)`, `https://address`. An
 * underscore inside a word is no mark, so that names such as `unit_tests` can be copied.
 */
function plain(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replace(/:(?=\/\/)|(?<=\bwww)\.|[@[\]*~`!]|(?<!\w)_|_(?!\w)/gi, mark => `${mark}\u200b`);
}

function jsonBody(report: Report, changes: readonly Change[], id: string, now: Nanoseconds) {
  const { action, result, item, place, urls, jobs, notice } = report;
  return {
    id,
    sent_at: toMilliseconds(now),
    ...{ action, result, notice: notice?.event ?? null, line: reportLine(report, changes) },
    ...{ tenant: place.tenant, pipeline: place.pipeline, queue: place.queue?.name ?? null },
    ...{ item, url: urls.item, trace_url: urls.trace },
    changes: changes.map(changeBody),
    jobs: jobs.map(jobBody),
    text: cutAtLine(report.text, LONGEST_TEXT, `All of it: ${urls.item}`),
  };
}

function changeBody(change: Change) {
  const isChange = change.kind === 'change';
  return {
    project: projectIdOf(change.project).name,
    ...{ branch: change.branch ?? null, ref: change.ref, url: change.url ?? null },
    ...{ change: isChange ? change.id : null, patchset: isChange ? change.patchset : null },
    ...{ commit: commitOf(change) ?? null, subject: isChange ? change.subject : null },
    owner: (isChange ? change.owner : undefined) ?? null,
  };
}

function jobBody({ name, result, voting, url, detail, startedAt, endedAt }: ReportedJob) {
  const duration = startedAt === null || endedAt === null ? null : millisecondsBetween(startedAt, endedAt);
  return { name, result, voting, url, duration_ms: duration, detail: detail ?? null };
}

/** Reports that are going to be made, and notices that were. */
import type { EarlierReports } from '../../earlier-reports.ts';
import type { LandingMode } from '../../landed.ts';
import type { Notice, NoticeEvent, WatchedItem } from '../../notice.ts';
import type {
  FileComment,
  ReportDetails,
  ReportedBuild,
  ReportedItem,
  ReportedJob,
  ReportReason,
} from '../../report.ts';
import type { ReportIntent } from '../../report-intent.ts';
import {
  added,
  byName,
  change,
  flag,
  json,
  list,
  mark,
  nullable,
  object,
  optional,
  project,
  tagged,
  text,
  time,
  uuid,
  whole,
  words,
} from '../schema.ts';
import { artifactsSchema, commentLevelSchema, commentRangeSchema } from './buildsets.ts';
import { buildResultSchema, configErrorSchema } from './causes.ts';
import { changeSchema } from './change.ts';
import { reportActionSchema } from './items.ts';
import { mergedBranchSchema } from './merges.ts';

const job = object<ReportedJob>({
  name: text,
  result: nullable(buildResultSchema),
  voting: flag,
  url: nullable(text),
  startedAt: nullable(time),
  endedAt: nullable(time),
  message: optional(text),
  detail: optional(text),
});

const reason = tagged<ReportReason, 'kind'>('kind', {
  refused: { text },
  conflict: { project, with: optional(change), files: list(text) },
  configuration: { errors: list(configErrorSchema) },
  'no-jobs': { text },
  'tested-before': { url: text },
});

const fileComment = object<FileComment>({
  project,
  branch: text,
  file: text,
  line: whole,
  severity: commentLevelSchema,
  text,
  range: optional(commentRangeSchema),
  job: optional(text),
});

const reportedBuild = object<ReportedBuild>({
  job: text,
  voting: flag,
  dependencies: list(text),
  uuid: nullable(uuid),
  result: nullable(buildResultSchema),
  requestedAt: nullable(time),
  startedAt: nullable(time),
  endedAt: nullable(time),
  url: nullable(text),
  log: nullable(text),
  artifacts: optional(artifactsSchema),
  data: optional(byName(json)),
});

const reported = object<ReportedItem>({
  event: uuid,
  receivedAt: time,
  enqueuedAt: time,
  buildset: uuid,
  builds: list(reportedBuild),
  retried: list(reportedBuild),
});

const notice = object<Notice>({
  event: words<NoticeEvent>({
    landed: 1,
    failed: 1,
    'reset-twice': 1,
    'head-stuck': 1,
    'eta-slipped': 1,
  }),
  cause: text,
});

const details = object<ReportDetails>({
  changes: list(changeSchema),
  headline: text,
  reason: nullable(reason),
  jobs: list(job),
  fileComments: list(fileComment),
  retests: list(text),
  warnings: optional(list(text)),
  footer: optional(text),
  reported: optional(reported),
  notice: optional(notice),
  queue: nullable(
    object<NonNullable<ReportDetails['queue']>>({ name: text, entryPosition: nullable(whole) }),
  ),
  traceUrl: nullable(text),
});

/** Details of a report of which the text alone was stored. */
const UNKNOWN: Omit<ReportDetails, 'headline'> = {
  changes: [],
  reason: null,
  jobs: [],
  fileComments: [],
  retests: [],
  queue: null,
  traceUrl: null,
};

function firstLineOf(message: unknown): string {
  return String(message).split('\n', 1)[0] ?? '';
}

/** {@link ReportIntent}, the record `report-intent`. */
export const reportIntentSchema = object<ReportIntent>({
  uuid,
  tenant: text,
  pipeline: text,
  item: nullable(uuid),
  action: reportActionSchema,
  awaited: optional(mark),
  answered: optional(mark),
  repeats: optional(mark),
  together: optional(uuid),
  result: text,
  requestedAt: time,
  message: text,
  url: text,
  details: added(details, ({ message }) => ({ ...UNKNOWN, headline: firstLineOf(message) })),
  parts: list(
    object<ReportIntent['parts'][number]>({
      connection: text,
      config: json,
      merges: flag,
      mode: optional(words<LandingMode>({ push: 1, api: 1 })),
      change: changeSchema,
      tested: optional(mergedBranchSchema),
      earlier: optional(tagged<EarlierReports, 'kind'>('kind', { none: {}, remembered: { memory: json } })),
    }),
  ),
});

/** A list of {@link WatchedItem}, the record `pipeline-notices`. */
export const watchedItemsSchema = list(
  object<WatchedItem>({ item: uuid, headSince: optional(time), said: optional(whole), sent: list(text) }),
);

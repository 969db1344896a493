/**
 * Documents of builds and buildsets: Zuul's fields under Zuul's names, our own below `gatehouse`.
 *
 * Zuul's times are UTC to the second without a zone (`2026-11-20T17:30:00`); the exact times are below `gatehouse`, in
 * nanoseconds as text.
 */

import Type from 'typebox';
import type { BuildFacts, BuildsetFacts, NumberedBuild } from '../history/build-facts.ts';
import type { BuildRow, BuildsetRow, RefRow } from '../history/item-rows.ts';
import { millisecondsBetween, parseNanoseconds, toMilliseconds } from '../lib/clock.ts';
import type { Json } from '../model/job.ts';
import {
  type Document,
  document,
  flag,
  json,
  list,
  nanoseconds,
  nullable,
  number,
  optional,
  text,
  together,
  uuid,
  whole,
} from './schema.ts';

const zuul = () => nullable(text('UTC to the second, without a zone'));
const plainBuild = document({
  _id: nullable(whole(), 'Null until stored in the database'),
  uuid: uuid(),
  job_name: text(),
  result: nullable(text()),
  held: flag(),
  start_time: zuul(),
  end_time: zuul(),
  duration: nullable(number(), 'Seconds'),
  voting: flag(),
  log_url: nullable(text()),
  nodeset: nullable(text()),
  error_detail: nullable(text()),
  final: flag('False: another attempt followed'),
  artifacts: list(document({ name: text(), url: text(), metadata: optional(json()) }), 'Returned by the job'),
  provides: list(document({ name: text() }), 'As the job says'),
});
const ourBuild = document({
  item: uuid(),
  attempt: whole(),
  cause: json('Cause of a cancelled or skipped build'),
  trace_id: text(),
  span_id: text(),
  worker: nullable(text()),
  warnings: list(text(), 'Left by the job, or about what it returned'),
  file_comments: list(
    document({
      file: text(),
      line: whole('From 1'),
      level: text(),
      message: text(),
      range: optional(json()),
    }),
    'About lines of the change as it was proposed',
  ),
  waiting_ms: nullable(number()),
  running_ms: nullable(number()),
  requested_at: nullable(nanoseconds()),
  started_at: nullable(nanoseconds()),
  ended_at: nullable(nanoseconds()),
  trace_url: optional(nullable(text())),
  tests: optional(
    nullable(
      document({
        cases: whole(),
        failed: whole(),
        skipped: whole(),
        failed_elsewhere: whole('Of the failed ones listed, those that other changes failed lately, too'),
      }),
      'Null: the job left no results of tests',
    ),
  ),
});
const refSchema = document({
  project: text(),
  branch: nullable(text()),
  change: nullable(Type.Union([whole(), text()]), 'A number if the host numbers its changes'),
  patchset: nullable(text()),
  ref: nullable(text()),
  oldrev: nullable(text()),
  newrev: nullable(text()),
  ref_url: nullable(text()),
});
const eventFields = document({
  pipeline: text(),
  event_id: nullable(text()),
  event_timestamp: zuul(),
});

/** `GET …/build/<uuid>`, and each entry of `GET …/builds`. */
export const buildSchema = together(
  together(plainBuild, eventFields),
  document({ ref: refSchema, buildset: document({ uuid: uuid() }), gatehouse: ourBuild }),
);
/** Read by the page of a build's log. `gatehouse.trace_url` and `gatehouse.tests` are absent in lists. */
export type BuildDocument = Document<typeof buildSchema>;

const buildOfSet = together(plainBuild, document({ gatehouse: ourBuild }));
/** `GET …/buildset/<uuid>`, and, without its builds, each entry of `GET …/buildsets`. */
export const buildsetSchema = together(
  eventFields,
  document({
    _id: nullable(whole()),
    uuid: uuid(),
    result: nullable(text()),
    message: nullable(text()),
    first_build_start_time: zuul(),
    last_build_end_time: zuul(),
    refs: list(refSchema),
    builds: optional(list(buildOfSet, 'Not in lists')),
    retry_builds: optional(list(buildOfSet, 'Builds followed by another attempt; not in lists')),
    events: list(document({ event_time: zuul(), event_type: text(), description: text() })),
    gatehouse: document({
      item: uuid(),
      number: whole(),
      cause: json('Cause of the end of a buildset without a result'),
      trace_id: text(),
      span_id: text(),
      created_at: nullable(nanoseconds()),
      ended_at: nullable(nanoseconds()),
    }),
  }),
);
/** `builds` and `retry_builds` are undefined in lists only. */
export type BuildsetDocument = Document<typeof buildsetSchema>;

/** Address of a build's log; builds that never ran have none. */
export type LogUrl = (tenant: string, build: string) => string;

/** @param more members of the `gatehouse` block that the row does not have. */
export function buildJson(
  build: BuildFacts,
  logUrl: LogUrl,
  more: Pick<BuildDocument['gatehouse'], 'trace_url' | 'tests'> = {},
): BuildDocument {
  return {
    ...plainBuildJson(build, build.buildset, logUrl),
    pipeline: build.buildset.pipeline,
    event_id: build.buildset.event_id,
    event_timestamp: zuulTime(build.buildset.event_timestamp),
    ref: refJson(build.ref),
    buildset: { uuid: build.buildset.uuid },
    gatehouse: { ...ourBuildJson(build, build.buildset), ...more },
  };
}

/** @param detail its builds, for `builds` and `retry_builds`; undefined: without both, as in lists. */
export function buildsetJson(
  buildset: BuildsetFacts,
  detail?: { readonly builds: readonly NumberedBuild[]; readonly logUrl: LogUrl },
): BuildsetDocument {
  return {
    _id: buildset.id,
    uuid: buildset.uuid,
    result: buildset.result,
    message: null,
    pipeline: buildset.pipeline,
    event_id: buildset.event_id,
    event_timestamp: zuulTime(buildset.event_timestamp),
    first_build_start_time: zuulTime(buildset.first_build_start_time),
    last_build_end_time: zuulTime(buildset.last_build_end_time),
    refs: buildset.refs.map(refJson),
    ...(detail === undefined ? {} : buildLists(buildset, detail.builds, detail.logUrl)),
    events: [
      {
        event_time: zuulTime(buildset.created_at),
        event_type: 'triggered',
        description: `Triggered by ${buildset.event_type}`,
      },
    ],
    gatehouse: {
      item: buildset.item,
      number: buildset.number,
      cause: parsed(buildset.cause),
      trace_id: buildset.item,
      span_id: buildset.uuid.slice(0, 16),
      created_at: buildset.created_at,
      ended_at: buildset.ended_at,
    },
  };
}

function buildLists(
  buildset: BuildsetFacts,
  builds: readonly NumberedBuild[],
  logUrl: LogUrl,
): Pick<BuildsetDocument, 'builds' | 'retry_builds'> {
  const shown = (final: number) =>
    builds
      .filter(build => build.final === final)
      .map(build => ({
        ...plainBuildJson(build, buildset, logUrl),
        gatehouse: ourBuildJson(build, buildset),
      }));
  return { builds: shown(1), retry_builds: shown(0) };
}

function plainBuildJson(
  build: NumberedBuild,
  buildset: BuildsetRow,
  logUrl: LogUrl,
): Document<typeof plainBuild> {
  return {
    _id: build.id,
    uuid: build.uuid,
    job_name: build.job_name,
    result: build.result,
    held: false,
    start_time: zuulTime(build.start_time),
    end_time: zuulTime(build.end_time),
    duration: spent(build.start_time, build.end_time, 1000),
    voting: build.voting === 1,
    log_url: build.log_url ?? (build.start_time === null ? null : logUrl(buildset.tenant, build.uuid)),
    nodeset: null,
    error_detail: build.error_detail,
    final: build.final === 1,
    artifacts: build.artifacts === null ? [] : JSON.parse(build.artifacts),
    provides: build.provides === null ? [] : namesOf(build.provides),
  };
}

function namesOf(provides: string): Document<typeof plainBuild>['provides'] {
  const names: readonly string[] = JSON.parse(provides);
  return names.map(name => ({ name }));
}

function ourBuildJson(build: BuildRow, buildset: BuildsetRow): Document<typeof ourBuild> {
  return {
    item: buildset.item,
    attempt: build.attempt,
    cause: parsed(build.cause),
    trace_id: buildset.item,
    span_id: build.uuid.slice(0, 16),
    worker: build.worker,
    file_comments: build.file_comments === null ? [] : JSON.parse(build.file_comments),
    warnings: build.warnings === null ? [] : JSON.parse(build.warnings),
    waiting_ms: spent(build.requested_at, build.start_time ?? build.end_time, 1),
    running_ms: spent(build.start_time, build.end_time, 1),
    requested_at: build.requested_at,
    started_at: build.start_time,
    ended_at: build.end_time,
  };
}

function refJson(ref: RefRow): Document<typeof refSchema> {
  return {
    project: ref.project,
    branch: ref.branch,
    change: changeNumber(ref.change),
    patchset: ref.patchset,
    ref: ref.ref,
    oldrev: ref.oldrev,
    newrev: ref.newrev,
    ref_url: ref.ref_url,
  };
}

/** A number if the host numbers its changes, as Zuul's clients expect; else the host's text. */
function changeNumber(change: string | null): number | string | null {
  return change !== null && /^[1-9]\d{0,14}$/.test(change) ? Number(change) : change;
}

function zuulTime(time: string | null): string | null {
  return time === null ? null : new Date(toMilliseconds(parseNanoseconds(time))).toISOString().slice(0, 19);
}

/** @param unit milliseconds of one unit of the answer. */
function spent(from: string | null, to: string | null, unit: number): number | null {
  if (from === null || to === null) return null;
  return millisecondsBetween(parseNanoseconds(from), parseNanoseconds(to)) / unit;
}

function parsed(text: string | null): Json {
  return text === null ? null : JSON.parse(text);
}

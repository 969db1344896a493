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
import type { Artifact } from '../model/returned.ts';
import { artifactSchema, type LogUrl, withManifest } from './artifacts.ts';
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
  held: flag('Its hosts are held now, by an autohold; false while the store is away'),
  execute_time: zuul(),
  start_time: zuul(),
  end_time: zuul(),
  duration: nullable(number(), 'Seconds'),
  voting: flag(),
  log_url: nullable(text()),
  nodeset: nullable(text()),
  error_detail: nullable(text()),
  final: flag('False: another attempt followed'),
  artifacts: list(artifactSchema, 'Returned by the job; of one build also the list of its files'),
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
  queue_item_uuid: uuid('As `gatehouse.item`'),
});

/** `GET …/build/<uuid>`, and each entry of `GET …/builds`. */
export const buildSchema = together(
  together(plainBuild, eventFields),
  document({
    ref: refSchema,
    buildset: document({
      uuid: uuid(),
      refs: optional(list(refSchema, 'All changes of the buildset; not in lists')),
    }),
    gatehouse: ourBuild,
  }),
);
/** Read by the page of a build's log. `gatehouse.trace_url` and `gatehouse.tests` are absent in lists. */
export type BuildDocument = Document<typeof buildSchema>;

const buildOfSet = together(plainBuild, document({ ref: refSchema, gatehouse: ourBuild }));
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
    builds: optional(
      list(
        buildOfSet,
        'Those that were tried again (`final` is false) among them; absent: none, or in a list',
      ),
    ),
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
/** `builds` is undefined in lists, and where there are none, as in Zuul. */
export type BuildsetDocument = Document<typeof buildsetSchema>;

/** What the rows of the history do not say of builds. */
export interface LiveBuildFacts {
  readonly logUrl: LogUrl;
  /** Uuids of the builds whose hosts are held. */
  readonly held: ReadonlySet<string>;
}

/** @param detail members of the `gatehouse` block that the row does not have; undefined: as in lists. */
export function buildJson(
  build: BuildFacts,
  context: LiveBuildFacts,
  detail?: Pick<BuildDocument['gatehouse'], 'trace_url' | 'tests'>,
): BuildDocument {
  return {
    ...plainBuildJson(build, build.buildset, context),
    pipeline: build.buildset.pipeline,
    event_id: build.buildset.event_id,
    event_timestamp: zuulTime(build.buildset.event_timestamp),
    queue_item_uuid: build.buildset.item,
    ref: refJson(build.ref),
    ...(detail === undefined ? {} : { artifacts: withManifest(build, artifactsOf(build), context.logUrl) }),
    buildset: {
      uuid: build.buildset.uuid,
      ...(detail === undefined ? {} : { refs: build.refs.map(refJson) }),
    },
    gatehouse: { ...ourBuildJson(build, build.buildset), ...detail },
  };
}

/** @param detail its builds; undefined: without them, as in lists. */
export function buildsetJson(
  buildset: BuildsetFacts,
  detail?: LiveBuildFacts & { readonly builds: readonly NumberedBuild[] },
): BuildsetDocument {
  return {
    _id: buildset.id,
    uuid: buildset.uuid,
    result: buildset.result,
    message: null,
    pipeline: buildset.pipeline,
    event_id: buildset.event_id,
    event_timestamp: zuulTime(buildset.event_timestamp),
    queue_item_uuid: buildset.item,
    first_build_start_time: zuulTime(buildset.first_build_start_time),
    last_build_end_time: zuulTime(buildset.last_build_end_time),
    refs: buildset.refs.map(refJson),
    ...(detail === undefined ? {} : buildList(buildset, detail.builds, detail)),
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

function buildList(
  buildset: BuildsetFacts,
  builds: readonly NumberedBuild[],
  context: LiveBuildFacts,
): Pick<BuildsetDocument, 'builds'> {
  const [ref] = buildset.refs;
  if (ref === undefined || builds.length === 0) return {};
  return {
    builds: builds.map(build => ({
      ...plainBuildJson(build, buildset, context),
      ref: refJson(ref),
      gatehouse: ourBuildJson(build, buildset),
    })),
  };
}

function plainBuildJson(
  build: NumberedBuild,
  buildset: BuildsetRow,
  { logUrl, held }: LiveBuildFacts,
): Document<typeof plainBuild> {
  return {
    _id: build.id,
    uuid: build.uuid,
    job_name: build.job_name,
    result: build.result,
    held: held.has(build.uuid),
    execute_time: zuulTime(build.requested_at),
    start_time: zuulTime(build.start_time),
    end_time: zuulTime(build.end_time),
    duration: spent(build.start_time, build.end_time, 1000),
    voting: build.voting === 1,
    log_url: build.log_url ?? (build.start_time === null ? null : logUrl(buildset.tenant, build.uuid)),
    nodeset: null,
    error_detail: build.error_detail,
    final: build.final === 1,
    artifacts: artifactsOf(build),
    provides: build.provides === null ? [] : namesOf(build.provides),
  };
}

function artifactsOf({ artifacts }: BuildRow): readonly Artifact[] {
  return artifacts === null ? [] : JSON.parse(artifacts);
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

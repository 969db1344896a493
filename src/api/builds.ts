/** Documents of builds and buildsets, from rows of the history. */
import type { BuildFacts, BuildsetFacts, NumberedBuild } from '../history/build-facts.ts';
import type { BuildRow, BuildsetRow, RefRow } from '../history/item-rows.ts';
import { millisecondsBetween, parseNanoseconds, toMilliseconds } from '../lib/clock.ts';
import type { Json } from '../model/job.ts';
import type { Artifact } from '../model/returned.ts';
import { type LogUrl, withManifest } from './artifacts.ts';
import type { BuildDocument, BuildsetDocument, OurBuild, PlainBuild, RefOfBuild } from './build-schema.ts';

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
): PlainBuild {
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

function namesOf(provides: string): PlainBuild['provides'] {
  const names: readonly string[] = JSON.parse(provides);
  return names.map(name => ({ name }));
}

function ourBuildJson(build: BuildRow, buildset: BuildsetRow): OurBuild {
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

function refJson(ref: RefRow): RefOfBuild {
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

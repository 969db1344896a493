/**
 * Builds and buildsets as the API shows them: Zuul's fields under Zuul's names, ours below `gatehouse`.
 *
 * Zuul's times are UTC to the second without a zone (`2026-11-20T17:30:00`); the exact ones are in our block, in
 * nanoseconds as text.
 */
import { millisecondsBetween, parseNanoseconds, toMilliseconds } from '../lib/clock.ts';
import type { Json } from '../model/job.ts';
import type { BuildRow, BuildsetRow, RefRow } from './item-rows.ts';

export type JsonObject = { readonly [name: string]: Json };

/** `id` is null for a build that is not in the database yet. */
export type NumberedBuild = BuildRow & { readonly id: number | null };

export interface BuildFacts extends NumberedBuild {
  readonly buildset: BuildsetRow;
  readonly ref: RefRow;
}

export interface BuildsetFacts extends BuildsetRow {
  readonly id: number | null;
  readonly refs: readonly RefRow[];
}

/** Where the log of a build is; a build that never ran has none. */
export type LogUrl = (tenant: string, build: string) => string;

/** @param more what else is known of it, for our block. */
export function buildJson(build: BuildFacts, logUrl: LogUrl, more: JsonObject = {}): JsonObject {
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

/** @param detail its builds, shown as `builds` and, those that were tried again, `retry_builds`; undefined: neither, as in lists. */
export function buildsetJson(
  buildset: BuildsetFacts,
  detail?: { readonly builds: readonly NumberedBuild[]; readonly logUrl: LogUrl },
): JsonObject {
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

function buildLists(buildset: BuildsetFacts, builds: readonly NumberedBuild[], logUrl: LogUrl): JsonObject {
  const shown = (final: number) =>
    builds
      .filter(build => build.final === final)
      .map(build => ({
        ...plainBuildJson(build, buildset, logUrl),
        gatehouse: ourBuildJson(build, buildset),
      }));
  return { builds: shown(1), retry_builds: shown(0) };
}

function plainBuildJson(build: NumberedBuild, buildset: BuildsetRow, logUrl: LogUrl): JsonObject {
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
    log_url: build.start_time === null ? null : logUrl(buildset.tenant, build.uuid),
    nodeset: null,
    error_detail: build.error_detail,
    final: build.final === 1,
    artifacts: [],
    provides: [],
  };
}

function ourBuildJson(build: BuildRow, buildset: BuildsetRow): JsonObject {
  return {
    item: buildset.item,
    attempt: build.attempt,
    cause: parsed(build.cause),
    trace_id: buildset.item,
    span_id: build.uuid.slice(0, 16),
    worker: build.worker,
    waiting_ms: spent(build.requested_at, build.start_time ?? build.end_time, 1),
    running_ms: spent(build.start_time, build.end_time, 1),
    requested_at: build.requested_at,
    started_at: build.start_time,
    ended_at: build.end_time,
  };
}

function refJson(ref: RefRow): JsonObject {
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

/** A number where the host numbers its changes, as Zuul's clients expect; else the host's text. */
function changeNumber(change: string | null): Json {
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

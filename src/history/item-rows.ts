/**
 * A queue item as rows: pure, and also correct for an item that is still in its queue (results and ends are null then),
 * so that a build looks the same in the API while it runs and afterwards.
 */
import { type Build, endOfBuild, isRetried, resultOf, skipText, startOfBuild } from '../model/build.ts';
import { type BuildSet, endOf, graphOf } from '../model/build-set.ts';
import { type Change, targetBranchOf } from '../model/change.ts';
import { projectIdOf } from '../model/project.ts';
import { buildsetsOf, endOfItem, type QueueItem } from '../model/queue-item.ts';
import type { BuildsetTable, BuildTable, RefTable } from './schema.ts';

/** A buildset before the database has numbered it. */
export type BuildsetRow = Omit<BuildsetTable, 'id'>;
/** A change of a buildset that has no id yet. */
export type RefRow = Omit<RefTable, 'buildset_id'>;
/** A build before the database has numbered it; tenant and buildset are those of its {@link BuildsetRows}. */
export type BuildRow = Omit<BuildTable, 'id' | 'buildset_id' | 'tenant'>;

/** One buildset of an item, with all that is written below it. */
export interface BuildsetRows {
  readonly buildset: BuildsetRow;
  /** In the item's order; never empty. */
  readonly refs: readonly RefRow[];
  readonly builds: readonly BuildRow[];
}

/** Oldest buildset first. A build that was kept after a reset is shown with the last buildset that has it. */
export function rowsOfItem(item: QueueItem): readonly BuildsetRows[] {
  const refs = item.changes.map(refRow);
  const all = buildsetsOf(item);
  return all.map((buildset, index) => {
    const kept = new Set(all.slice(index + 1).flatMap(later => later.builds.map(build => build.uuid)));
    const provided = new Map(graphOf(buildset)?.jobs.map(({ name, provides }) => [name, provides]));
    const builds = buildset.builds
      .filter(build => !kept.has(build.uuid) && !isTakenBack(build))
      .map(build => buildRow(build, provided.get(build.job)));
    return { buildset: buildsetRow(item, buildset, builds), refs, builds };
  });
}

/** No worker ever had it. The trace shows how long it was requested. */
function isTakenBack({ state }: Build): boolean {
  return state.state === 'cancelled' && state.startedAt === null && state.execution === null;
}

function buildsetRow(item: QueueItem, buildset: BuildSet, builds: readonly BuildRow[]): BuildsetRow {
  return {
    uuid: buildset.uuid,
    tenant: item.tenant,
    pipeline: item.pipeline,
    item: item.uuid,
    number: buildset.number,
    result: resultOfBuildset(item, buildset),
    cause: buildset.cause === null ? null : JSON.stringify(buildset.cause),
    event_id: item.origin.event,
    event_type: item.origin.eventType,
    event_timestamp: item.origin.receivedAt,
    created_at: buildset.createdAt,
    ended_at: endOf(buildset) ?? endOfItem(item),
    first_build_start_time: first(builds.map(build => build.start_time)),
    last_build_end_time: last(builds.map(build => build.end_time)),
  };
}

/** Zuul's result of a buildset that was replaced is DEQUEUED; the last one has the item's result once it has left. */
function resultOfBuildset(item: QueueItem, buildset: BuildSet): string | null {
  if (buildset.stage.state === 'superseded') return 'DEQUEUED';
  if (item.phase.phase === 'left' && buildset.uuid === item.buildset.uuid) return item.phase.result;
  return buildset.stage.state === 'complete' ? buildset.stage.result : null;
}

/** All times have as many digits, so the smallest text is the earliest. */
function first(times: readonly (string | null)[]): string | null {
  return (
    times
      .filter(time => time !== null)
      .toSorted()
      .at(0) ?? null
  );
}

function last(times: readonly (string | null)[]): string | null {
  return (
    times
      .filter(time => time !== null)
      .toSorted()
      .at(-1) ?? null
  );
}

function refRow(change: Change, position: number): RefRow {
  const common = {
    position,
    project_key: change.project,
    project: projectIdOf(change.project).name,
    branch: targetBranchOf(change) ?? null,
    ref: change.ref,
    ref_url: change.url ?? null,
  };
  return change.kind === 'change'
    ? { ...common, change: change.id, patchset: change.patchset, oldrev: null, newrev: null }
    : { ...common, change: null, patchset: null, oldrev: change.oldCommit, newrev: change.newCommit };
}

/** @param provides names; undefined: none. */
function buildRow(build: Build, provides: readonly string[] | undefined): BuildRow {
  const { state } = build;
  const returned = state.state === 'completed' ? state.returned : undefined;
  return {
    uuid: build.uuid,
    job_name: build.job,
    attempt: build.attempt,
    voting: build.voting ? 1 : 0,
    final: isRetried(build) ? 0 : 1,
    result: resultOf(build) ?? null,
    requested_at: build.requestedAt,
    start_time: startOfBuild(build),
    end_time: endOfBuild(build),
    worker: 'worker' in state ? state.worker : null,
    error_detail: storable(detailOf(state)),
    cause: state.state === 'cancelled' ? JSON.stringify(state.cause) : null,
    log_url: storable(returned?.logUrl),
    provides: provides === undefined ? null : JSON.stringify(provides),
    file_comments: returned?.fileComments === undefined ? null : JSON.stringify(returned.fileComments),
    warnings: returned?.warnings === undefined ? null : JSON.stringify(returned.warnings),
    artifacts: returned?.artifacts === undefined ? null : JSON.stringify(returned.artifacts),
  };
}

function detailOf(state: Build['state']): string | undefined {
  return state.state === 'skipped' ? skipText(state) : state.state === 'completed' ? state.detail : undefined;
}

/** PostgreSQL holds no NUL in a text. */
function storable(text: string | null | undefined): string | null {
  return text?.replaceAll('\0', '\u2400') ?? null;
}

/**
 * `…/changes/<change>/checks`: what was run for a change, as Gerrit's Checks tab shows it. Names and values are those of
 * Gerrit's plug-in interface for checks; its dates are milliseconds here, and what Gerrit may leave out is absent.
 *
 *     { runs: [{ change: 12, patchset: 3, attempt: 1, checkName: 'check/unit', status: 'COMPLETED',
 *                results: [{ category: 'ERROR', summary: 'FAILURE: 1 of 409 tests failed', … }] }], truncated: false }
 *
 * A run is one build. Builds of one job are numbered through all items of the change, so that the tab shows the last one and offers
 * the others. Where an item has no build to show, it is a run of its own, named after the pipeline.
 */
import { addMilliseconds, toMilliseconds } from '../lib/clock.ts';
import { type Build, endOfBuild, isPaused, resultOf, startOfBuild } from '../model/build.ts';
import { currentBuild, graphOf } from '../model/build-set.ts';
import { leaveText } from '../model/cause.ts';
import type { Change, ProposedChange } from '../model/change.ts';
import { jobStandings, waitText } from '../model/job-standing.ts';
import { buildLog, buildPage, itemPage } from '../model/page-addresses.ts';
import { buildsetsOf, endOfItem, type QueueItem } from '../model/queue-item.ts';
import { type BuildResult, type BuildSetResult, isGood } from '../model/results.ts';
import { buildTraceAddress, traceAddress } from '../tracing/trace-links.ts';
import type { TraceUi } from '../tracing/ui-url.ts';
import type { ChangeChecks } from './change-checks-schema.ts';
import { detailOfBuild } from './live-job.ts';

type CheckRun = ChangeChecks['runs'][number];
type CheckResult = CheckRun['results'][number];
type CheckLink = CheckResult['links'][number];
type Category = CheckResult['category'];

/** Facts that the items do not have. */
export interface ChecksContext {
  /** Public URL without trailing slash. */
  readonly root: string;
  /** Null: tracing is off. */
  readonly traceUi: TraceUi | null;
  /** The change and, unless undefined, the patch set asked for. */
  readonly isAsked: (change: Change) => boolean;
  /** Usual durations in milliseconds by job name, of a live item. */
  readonly usual: (item: QueueItem) => ReadonlyMap<string, number>;
}

/** A run before it has its number. */
type Unnumbered = Omit<CheckRun, 'attempt' | 'change' | 'patchset'>;

/** @param items that have the change, live or finished, in any order. @param truncated there may be older ones */
export function changeChecks(
  items: readonly QueueItem[],
  truncated: boolean,
  context: ChecksContext,
): ChangeChecks {
  const attempts = new Map<string, number>();
  const runs = items
    .filter(item => item.role === 'live')
    .toSorted((a, b) => (a.enqueuedAt < b.enqueuedAt ? -1 : 1))
    .flatMap(item => {
      const change = item.changes.find(context.isAsked);
      if (change?.kind !== 'change') return [];
      const of = revisionOf(change);
      return runsOf(item, context).map(run => {
        const name = JSON.stringify([change.patchset, run.checkName]);
        const attempt = (attempts.get(name) ?? 0) + 1;
        attempts.set(name, attempt);
        return { ...of, attempt, ...run };
      });
    });
  return { runs, truncated };
}

/** Gerrit's numbers; hosts without have no tab either. */
function revisionOf({ id, patchset }: ProposedChange): Pick<CheckRun, 'change' | 'patchset'> {
  const isNumber = (given: string) => /^[1-9]\d{0,9}$/.test(given);
  return {
    ...(isNumber(id) ? { change: Number(id) } : {}),
    ...(isNumber(patchset) ? { patchset: Number(patchset) } : {}),
  };
}

function runsOf(item: QueueItem, context: ChecksContext): readonly Unnumbered[] {
  const builds = buildsetsOf(item).flatMap(buildset => buildset.builds);
  const runs = [
    ...builds.map(build => buildRun(item, build, context)),
    ...(item.phase.phase === 'left' ? [] : waitingRuns(item, context)),
  ];
  const isExplained =
    item.phase.phase !== 'left' ||
    item.phase.result === 'SUCCESS' ||
    builds.some(build => build.voting && !isGood(resultOf(build) ?? 'SUCCESS'));
  return runs.length > 0 && isExplained ? runs : [...runs, itemRun(item, context)];
}

function buildRun(item: QueueItem, build: Build, context: ChecksContext): Unnumbered {
  const started = startOfBuild(build);
  const ended = endOfBuild(build) ?? expectedEnd(item, build, context);
  return {
    externalId: build.uuid,
    checkName: `${item.pipeline}/${build.job}`,
    checkLink: itemPage(context.root, item.tenant, item.uuid),
    status: statusOf(build),
    ...descriptionOf(build),
    ...(started === null ? {} : { statusLink: buildPage(context.root, item.tenant, build.uuid) }),
    scheduledTimestamp: toMilliseconds(build.requestedAt),
    ...(started === null ? {} : { startedTimestamp: toMilliseconds(started) }),
    ...(ended === undefined ? {} : { finishedTimestamp: toMilliseconds(ended) }),
    results: resultsOf(item, build, context),
  };
}

function descriptionOf(build: Build): Pick<CheckRun, 'statusDescription'> {
  if (build.state.state === 'requested') return { statusDescription: 'waits for an executor' };
  return isPaused(build) ? { statusDescription: 'paused for the jobs that depend on it' } : {};
}

function statusOf({ state }: Build): CheckRun['status'] {
  if (state.state === 'requested') return 'SCHEDULED';
  return state.state === 'started' ? 'RUNNING' : 'COMPLETED';
}

function expectedEnd(item: QueueItem, build: Build, context: ChecksContext) {
  const started = startOfBuild(build);
  const usual = context.usual(item).get(build.job);
  return started === null || usual === undefined ? undefined : addMilliseconds(started, usual);
}

function resultsOf(item: QueueItem, build: Build, context: ChecksContext): readonly CheckResult[] {
  const isFailing = build.state.state === 'started' && build.state.failingSince !== undefined;
  const result = resultOf(build) ?? (isFailing ? 'FAILURE' : undefined);
  if (result === undefined) return [];
  const detail = detailOfBuild(build);
  const category = categoryOf(result, build.voting);
  return [
    {
      externalId: build.uuid,
      category,
      summary: detail === null ? result : `${result}: ${detail}`,
      tags: [tag(result, category), ...(build.voting ? [] : [tag('non-voting', 'INFO')])],
      links: linksOfBuild(item, build, context),
    },
  ];
}

const CATEGORIES: { readonly [result in BuildResult]: Category } = {
  SUCCESS: 'SUCCESS',
  SKIPPED: 'INFO',
  CANCELED: 'INFO',
  RETRY: 'INFO',
  FAILURE: 'ERROR',
  TIMED_OUT: 'ERROR',
  POST_FAILURE: 'ERROR',
  RETRY_LIMIT: 'ERROR',
  DISK_FULL: 'ERROR',
  NODE_FAILURE: 'ERROR',
  ERROR: 'ERROR',
};

function categoryOf(result: BuildResult, voting: boolean): Category {
  const category = CATEGORIES[result];
  return category === 'ERROR' && !voting ? 'WARNING' : category;
}

const COLORS = { SUCCESS: 'cyan', INFO: 'gray', WARNING: 'yellow', ERROR: 'pink' } as const;

function tag(name: string, category: Category): CheckResult['tags'][number] {
  return { name, color: COLORS[category] };
}

function linksOfBuild(item: QueueItem, build: Build, { root, traceUi }: ChecksContext): readonly CheckLink[] {
  const trace = traceLink(buildTraceAddress(traceUi, item, build));
  if (startOfBuild(build) === null) return trace;
  return [
    {
      url: buildPage(root, item.tenant, build.uuid),
      tooltip: 'Build with its log',
      primary: true,
      icon: 'external',
    },
    {
      url: buildLog(root, item.tenant, build.uuid),
      tooltip: 'Log as text',
      primary: false,
      icon: 'download',
    },
    ...trace,
  ];
}

/** Gerrit takes no others. */
function traceLink(url: string | null): readonly CheckLink[] {
  if (url === null || !/^https?:\/\//.test(url)) return [];
  return [{ url, tooltip: 'Trace', primary: false, icon: 'history' }];
}

/** Jobs of the present buildset that have no build yet. */
function waitingRuns(item: QueueItem, context: ChecksContext): readonly Unnumbered[] {
  const standings = jobStandings(item.buildset);
  return (graphOf(item.buildset)?.jobs ?? [])
    .filter(job => currentBuild(item.buildset, job.name) === undefined)
    .map(job => {
      const standing = standings.get(job.name);
      const wait = standing === undefined ? null : waitText(standing);
      return {
        ...scheduledRun(item, context),
        checkName: `${item.pipeline}/${job.name}`,
        ...(wait === null ? {} : { statusDescription: `waits: ${wait}` }),
      };
    });
}

function scheduledRun(item: QueueItem, { root }: ChecksContext) {
  return {
    externalId: item.uuid,
    checkLink: itemPage(root, item.tenant, item.uuid),
    status: 'SCHEDULED' as const,
    scheduledTimestamp: toMilliseconds(item.enqueuedAt),
    results: [],
  };
}

/** The item itself: it has no jobs yet, or none of them explains its result. */
function itemRun(item: QueueItem, context: ChecksContext): Unnumbered {
  const waiting = scheduledRun(item, context);
  const { phase } = item;
  if (phase.phase !== 'left') {
    const state = item.timeline.at(-1)?.state;
    return {
      ...waiting,
      checkName: item.pipeline,
      ...(state === undefined ? {} : { statusDescription: `state: ${state}` }),
    };
  }
  const end = endOfItem(item) ?? phase.at;
  const category = ITEM_CATEGORIES[phase.result];
  const trace = traceLink(traceAddress(context.traceUi, item));
  const page = { url: waiting.checkLink, tooltip: 'Item', primary: true, icon: 'external' } as const;
  return {
    ...waiting,
    checkName: item.pipeline,
    status: 'COMPLETED',
    startedTimestamp: toMilliseconds(item.enqueuedAt),
    finishedTimestamp: toMilliseconds(end),
    results: [
      {
        externalId: item.uuid,
        category,
        summary: phase.reason === 'reported' ? phase.result : `${phase.result}: ${leaveText(phase.reason)}`,
        tags: [tag(phase.result, category)],
        links: [page, ...trace],
      },
    ],
  };
}

const ITEM_CATEGORIES: { readonly [result in BuildSetResult]: Category } = {
  SUCCESS: 'SUCCESS',
  NO_JOBS: 'INFO',
  DEQUEUED: 'INFO',
  FAILURE: 'ERROR',
  MERGE_CONFLICT: 'ERROR',
  MERGE_FAILURE: 'ERROR',
  CONFIG_ERROR: 'ERROR',
  ERROR: 'ERROR',
};

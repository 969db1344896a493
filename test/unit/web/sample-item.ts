/**
 * Queue items for tests, declared in few words: times are seconds after the sample's beginning, ids follow from names.
 *
 *     sampleItem('dark-mode', { project: 'acme/app', at: 40, buildsets: [...] })
 */

import { addMilliseconds, fromMilliseconds, type Nanoseconds } from '../../../src/lib/clock.ts';
import { derivedUuid, type Uuid } from '../../../src/lib/ids.ts';
import type { Build, BuildState } from '../../../src/model/build.ts';
import type { BuildSet, BuildSetStage, FrozenGraph, TestedMerge } from '../../../src/model/build-set.ts';
import type { CancelCause, LeaveCode, ResetCause } from '../../../src/model/cause.ts';
import { type Change, changeKey, type ProposedChange } from '../../../src/model/change.ts';
import type { ItemStateName } from '../../../src/model/item-states.ts';
import type { JobNode } from '../../../src/model/job.ts';
import { parseCommitId, projectKey } from '../../../src/model/project.ts';
import type { QueueItem, TimelineEntry } from '../../../src/model/queue-item.ts';
import type { BuildResult, BuildSetResult } from '../../../src/model/results.ts';
import { emptyBuildSet, emptyJobNode, emptyQueueItem } from '../../fake/records.ts';

/** 2026-11-20T12:00:00Z */
const BEGINNING = fromMilliseconds(Date.UTC(2026, 10, 20, 12));

export function at(seconds: number): Nanoseconds {
  return addMilliseconds(BEGINNING, seconds * 1000);
}

export function uuidOf(...names: readonly string[]): Uuid {
  return derivedUuid('sample', ...names);
}

export function sampleChange(name: string, project = 'acme/app', subject = `Change ${name}`): ProposedChange {
  const key = projectKey({ connection: 'local', name: project });
  const commit = parseCommitId(`${derivedUuid('commit', name)}00000000`);
  return {
    kind: 'change',
    key: changeKey(key, `master/${name}`),
    project: key,
    branch: 'master',
    id: `master/${name}`,
    patchset: commit,
    commit,
    ref: `refs/heads/for/master/${name}`,
    subject,
    owner: 'ada',
    url: `https://git.example.org/acme/${name}`,
  };
}

/** `build('unit-tests', [0, 3, 60], 'FAILURE')`: requested, started, ended. */
export interface SampleBuild {
  readonly job: string;
  readonly times: readonly [requested: number, started?: number, ended?: number];
  readonly result?: BuildResult;
  readonly attempt?: number;
  readonly voting?: boolean;
  readonly cancelled?: CancelCause;
  readonly skippedFor?: string;
  readonly detail?: string;
}

export interface SampleBuildset {
  readonly at: number;
  readonly cause?: ResetCause;
  readonly builds?: readonly SampleBuild[];
  readonly jobs?: readonly JobNode[];
  readonly stage?: 'new' | 'merging' | 'merged' | 'running' | 'complete';
  /** Set for a superseded buildset. */
  readonly supersededBy?: ResetCause;
  readonly result?: BuildSetResult;
  readonly endedAt?: number;
}

export interface SampleItem {
  readonly change?: Change;
  readonly project?: string;
  readonly subject?: string;
  readonly pipeline?: string;
  readonly at: number;
  readonly behind?: string | null;
  readonly queue?: string;
  readonly dependsOn?: readonly ProposedChange[];
  readonly buildsets: readonly SampleBuildset[];
  readonly timeline: readonly (readonly [ItemStateName, number, string?])[];
  readonly left?: { readonly at: number; readonly reason: LeaveCode; readonly result: BuildSetResult };
}

const JOBS: readonly JobNode[] = [
  emptyJobNode('lint'),
  emptyJobNode('unit-tests'),
  emptyJobNode('integration', { dependencies: [{ name: 'unit-tests', soft: false }] }),
  emptyJobNode('coverage', { voting: false }),
];

export function sampleItem(name: string, sample: SampleItem): QueueItem {
  const change = sample.change ?? sampleChange(name, sample.project, sample.subject);
  const buildsets = sample.buildsets.map((buildset, index) => sampleBuildset(name, index + 1, buildset));
  const current = buildsets.at(-1);
  const timeline = sample.timeline.map(
    ([state, since, subject]): TimelineEntry => ({
      state,
      since: at(since),
      ...(subject === undefined ? {} : { subject }),
      ...(state === 'change-ahead' && typeof sample.behind === 'string'
        ? { item: uuidOf(sample.behind) }
        : {}),
    }),
  );
  const [firstEntry, ...restOfTimeline] = timeline;
  if (current === undefined || firstEntry === undefined)
    throw new Error('a sample item needs a buildset and a state');
  return emptyQueueItem(
    {
      uuid: uuidOf(name),
      tenant: 'main',
      pipeline: sample.pipeline ?? 'gate',
      queue: sample.queue ?? 'integrated',
      changes: [change],
      enqueuedAt: at(sample.at),
      phase:
        sample.left === undefined
          ? { phase: 'queued' }
          : { phase: 'left', at: at(sample.left.at), reason: sample.left.reason, result: sample.left.result },
      behind: sample.behind === undefined || sample.behind === null ? null : uuidOf(sample.behind),
      dependsOn: (sample.dependsOn ?? []).map(needed => needed.key),
      buildset: current,
      earlier: buildsets.slice(0, -1),
      timeline: [firstEntry, ...restOfTimeline],
      events: buildsets.slice(1).map(buildset => ({
        at: buildset.createdAt,
        name: 'reset' as const,
        facts: { number: buildset.number },
      })),
      startReported: true,
    },
    {
      event: uuidOf(name, 'event'),
      tenantEvent: uuidOf(name, 'tenant-event'),
      receivedAt: at(sample.at - 0.4),
    },
  );
}

function sampleBuildset(name: string, number: number, sample: SampleBuildset): BuildSet {
  const uuid = uuidOf(name, 'buildset', String(number));
  const request = uuidOf(name, 'merge', String(number));
  const merged = sample.stage !== 'new' && sample.stage !== 'merging';
  return {
    ...emptyBuildSet(uuid, number, at(sample.at), sample.cause ?? null),
    stage: sampleStage(request, sample),
    mergerWork:
      sample.stage === 'new'
        ? []
        : [
            {
              request,
              kind: 'merge',
              requestedAt: at(sample.at),
              done: merged
                ? { at: at(sample.at + 0.8), outcome: 'merged', worker: 'merger-1', steps: [] }
                : null,
            },
          ],
    builds: (sample.builds ?? []).map(build => sampleBuild(name, number, build)),
  };
}

function sampleStage(request: Uuid, sample: SampleBuildset): BuildSetStage {
  const graph: FrozenGraph = { blob: '0'.repeat(64), jobs: sample.jobs ?? JOBS };
  const tested: TestedMerge = { branches: [], heads: [] };
  if (sample.supersededBy !== undefined)
    return { state: 'superseded', at: sample.supersededBy.at, cause: sample.supersededBy, graph };
  switch (sample.stage ?? 'running') {
    case 'new':
      return { state: 'new' };
    case 'merging':
      return { state: 'merging', request };
    case 'merged':
      return { state: 'merged', tested };
    case 'running':
      return { state: 'running', tested, graph };
    case 'complete':
      return {
        state: 'complete',
        at: at(sample.endedAt ?? sample.at + 100),
        result: sample.result ?? 'SUCCESS',
        tested,
        graph,
      };
  }
}

function sampleBuild(name: string, buildset: number, build: SampleBuild): Build {
  const attempt = build.attempt ?? 1;
  return {
    uuid: uuidOf(name, 'build', String(buildset), build.job, String(attempt)),
    job: build.job,
    attempt,
    voting: build.voting ?? true,
    requestedAt: at(build.times[0]),
    state: sampleState(build),
  };
}

function sampleState(build: SampleBuild): BuildState {
  const [requested, started, ended] = build.times;
  const startedAt = started === undefined ? null : at(started);
  const worker = started === undefined ? null : 'executor-1';
  if (build.skippedFor !== undefined)
    return { state: 'skipped', at: at(requested), because: build.skippedFor };
  if (build.cancelled !== undefined)
    return {
      state: 'cancelled',
      startedAt,
      at: build.cancelled.at,
      worker,
      cause: build.cancelled,
      execution: null,
    };
  if (startedAt === null) return { state: 'requested' };
  if (ended === undefined) return { state: 'started', at: startedAt, worker: 'executor-1' };
  return {
    state: 'completed',
    startedAt,
    at: at(ended),
    result: build.result ?? 'SUCCESS',
    worker,
    execution: null,
    ...(build.detail === undefined ? {} : { detail: build.detail }),
  };
}

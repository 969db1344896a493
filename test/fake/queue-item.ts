/**
 * Builds the record of a queue item step by step; every step is a new version of the record, as the scheduler would store it.
 *
 *     const story = itemStory();
 *     story.wait(800).merge().wait(120).merged().freeze(['unit', 'docs']).wait(300).start('unit').wait(9000).finish('unit', 'FAILURE');
 *     story.item;       // the record now
 *     story.versions;   // one per step
 */
import { type Nanoseconds, parseNanoseconds } from '../../src/lib/clock.ts';
import { derivedUuid } from '../../src/lib/ids.ts';
import type { Build, BuildState, Execution } from '../../src/model/build.ts';
import type {
  BuildSet,
  BuildSetStage,
  FrozenGraph,
  MergerWork,
  TestedMerge,
} from '../../src/model/build-set.ts';
import type { CancelCause, Culprit, LeaveCode, ResetCause } from '../../src/model/cause.ts';
import { type Change, changeKey, type ProposedChange } from '../../src/model/change.ts';
import type { ItemStateName } from '../../src/model/item-states.ts';
import type { JobNode } from '../../src/model/job.ts';
import { parseCommitId, projectKey } from '../../src/model/project.ts';
import type { QueueItem } from '../../src/model/queue-item.ts';
import type { BuildResult, BuildSetResult } from '../../src/model/results.ts';
import type { Step } from '../../src/model/step.ts';
import { emptyBuildSet, emptyJobNode, emptyQueueItem } from './records.ts';

/** 2026-11-19 in nanoseconds, with digits a float would lose. */
const EPOCH = 1_795_000_000_123_456_789n;
export const APP = projectKey({ connection: 'local', name: 'acme/app' });

/** `ms` milliseconds into the story, plus a few nanoseconds. */
export function at(ms: number): Nanoseconds {
  return parseNanoseconds((EPOCH + BigInt(Math.round(ms * 1e6))).toString());
}

export function proposedChange(id: string, seed = id): ProposedChange {
  const commit = parseCommitId(derivedUuid('commit', seed).padEnd(40, '7'));
  return {
    kind: 'change',
    key: changeKey(APP, id),
    project: APP,
    branch: 'master',
    id,
    patchset: commit,
    commit,
    ref: `refs/heads/for/${id}`,
    subject: 'SUBJECT-MUST-NOT-LEAVE',
    owner: 'owner@must-not-leave.example',
  };
}

export interface StoryOptions {
  readonly seed?: string;
  readonly pipeline?: string;
  readonly sampled?: boolean;
  readonly changes?: readonly [Change, ...Change[]];
  /** State it is enqueued in. Default `window`. */
  readonly state?: ItemStateName;
}

export type ItemStory = ReturnType<typeof itemStory>;

export function itemStory(options: StoryOptions = {}) {
  const seed = options.seed ?? 'story';
  const id = (...parts: (string | number)[]) => derivedUuid(seed, ...parts.map(String));
  let ms = 0;
  let merges = 0;
  const changes = options.changes ?? [proposedChange('master/login', seed)];
  let item: QueueItem = emptyQueueItem(
    {
      uuid: id('item'),
      pipeline: options.pipeline ?? 'gate',
      changes,
      sampled: options.sampled ?? true,
      enqueuedAt: at(0),
      buildset: emptyBuildSet(id('buildset', 1), 1, at(0), null),
      timeline: [{ state: options.state ?? 'window', since: at(0) }],
    },
    { event: id('event'), tenantEvent: id('tenant-event'), receivedAt: at(-40) },
  );
  const versions: QueueItem[] = [item];

  const put = (change: Partial<QueueItem>) => {
    item = { ...item, ...change };
    versions.push(item);
    return story;
  };
  const putSet = (change: Partial<BuildSet>, rest: Partial<QueueItem> = {}) =>
    put({ buildset: { ...item.buildset, ...change }, ...rest });
  const entered = (state: ItemStateName, subject?: string): Pick<QueueItem, 'timeline'> => {
    const last = item.timeline.at(-1);
    if (last?.state === state && last.subject === subject) return { timeline: item.timeline };
    const entry = { state, since: at(ms), ...(subject === undefined ? {} : { subject }) };
    return { timeline: [...item.timeline, entry] };
  };
  const current = (job: string): Build => {
    const build = item.buildset.builds.findLast(candidate => candidate.job === job);
    if (build === undefined) throw new Error(`no build of ${job}`);
    return build;
  };
  const withState = (builds: readonly Build[], build: Build, state: BuildState) =>
    builds.map(other => (other === build ? { ...other, state } : other));
  const requested = (job: string, attempt: number, voting: boolean): Build => ({
    uuid: id('build', item.buildset.number, job, attempt),
    job,
    attempt,
    voting,
    requestedAt: at(ms),
    state: { state: 'requested' },
  });
  const cancelled = (build: Build, cause: CancelCause): Build => {
    if (build.state.state !== 'requested' && build.state.state !== 'started') return build;
    const started = build.state.state === 'started' ? build.state : null;
    return {
      ...build,
      state: {
        state: 'cancelled',
        startedAt: started?.at ?? null,
        at: at(ms),
        worker: started?.worker ?? null,
        cause,
        execution: null,
      },
    };
  };
  const cancelAll = (cause: CancelCause) => item.buildset.builds.map(build => cancelled(build, cause));
  const withdrawn = (): readonly MergerWork[] =>
    item.buildset.mergerWork.map(work =>
      work.done === null
        ? { ...work, done: { at: at(ms), outcome: 'withdrawn', worker: null, steps: [] } }
        : work,
    );
  const graph = (): FrozenGraph | null => ('graph' in item.buildset.stage ? item.buildset.stage.graph : null);

  const story = {
    get item() {
      return item;
    },
    get versions(): readonly QueueItem[] {
      return versions;
    },
    get now() {
      return at(ms);
    },
    /** Lets `amount` milliseconds pass. */
    wait(amount: number) {
      ms += amount;
      return story;
    },
    enter(state: ItemStateName, subject?: string) {
      return put(entered(state, subject));
    },
    note(name: QueueItem['events'][number]['name'], facts: QueueItem['events'][number]['facts'] = {}) {
      return put({ events: [...item.events, { at: at(ms), name, facts }] });
    },
    /** A merge is asked for. */
    merge() {
      merges += 1;
      const request = id('merge', merges);
      const work: MergerWork = { request, kind: 'merge', requestedAt: at(ms), done: null };
      return putSet(
        { stage: { state: 'merging', request }, mergerWork: [...item.buildset.mergerWork, work] },
        entered('merge'),
      );
    },
    merged(took = 2, outcome: 'merged' | 'conflict' | 'failed' = 'merged') {
      const mergerWork = item.buildset.mergerWork.map((work, index) =>
        index < item.buildset.mergerWork.length - 1
          ? work
          : {
              ...work,
              done: { at: at(ms), outcome, worker: 'merger-1', steps: mergerSteps(ms - took, took) },
            },
      );
      if (outcome === 'failed') return putSet({ mergerWork });
      if (outcome === 'conflict') {
        return putSet({
          mergerWork,
          conflict: { change: item.changes[0].key, project: APP, files: ['src/login.ts'] },
          stage: { state: 'complete', at: at(ms), result: 'MERGE_CONFLICT', tested: null, graph: null },
        });
      }
      return putSet({ mergerWork, stage: { state: 'merged', tested: TESTED } }, entered('configure'));
    },
    /** Layout and job graph; the builds of jobs without dependencies are asked for. */
    freeze(jobs: readonly (string | JobNode)[], took = 1.5) {
      const nodes = jobs.map(job => (typeof job === 'string' ? jobNode(job) : job));
      const start = ms;
      ms += took;
      const share = took / 2 / Math.max(1, nodes.length);
      const freezeAt = start + took / 2;
      return putSet(
        {
          stage: { state: 'running', tested: TESTED, graph: { blob: 'b10b', jobs: nodes } },
          turnWork: [
            { kind: 'layout', startedAt: at(start), endedAt: at(freezeAt), cached: false, jobs: [] },
            {
              kind: 'freeze',
              startedAt: at(freezeAt),
              endedAt: at(ms),
              cached: false,
              jobs: nodes.map((node, index) => ({
                name: node.name,
                startedAt: at(freezeAt + index * share),
                endedAt: at(freezeAt + (index + 1) * share),
              })),
            },
          ],
          builds: nodes
            .filter(node => node.dependencies.length === 0)
            .map(node => requested(node.name, 1, node.voting)),
        },
        entered('executor'),
      );
    },
    /** A build is asked for: of a job with dependencies, or a further attempt. */
    request(job: string, attempt = 1, voting = true) {
      return putSet({ builds: [...item.buildset.builds, requested(job, attempt, voting)] });
    },
    start(job: string, worker = 'executor-1') {
      const build = current(job);
      return putSet(
        { builds: withState(item.buildset.builds, build, { state: 'started', at: at(ms), worker }) },
        entered('running'),
      );
    },
    finish(job: string, result: BuildResult, execution: 'with' | 'without' = 'with') {
      const build = current(job);
      const started = build.state.state === 'started' ? build.state : null;
      const startMs = started === null ? ms : offset(started.at);
      const steps = execution === 'with' && started !== null ? executionOf(startMs + 3, ms, result) : null;
      return putSet({
        builds: withState(item.buildset.builds, build, {
          state: 'completed',
          startedAt: started?.at ?? null,
          at: at(ms),
          result,
          worker: started?.worker ?? null,
          execution: steps,
        }),
      });
    },
    skip(job: string, because: string) {
      const build: Build = { ...requested(job, 1, true), state: { state: 'skipped', at: at(ms), because } };
      return putSet({ builds: [...item.buildset.builds, build] });
    },
    complete(result: BuildSetResult) {
      const tested = TESTED;
      return putSet({ stage: { state: 'complete', at: at(ms), result, tested, graph: graph() } });
    },
    /** Tested again: the buildset ends with its builds, a new one begins. */
    reset(code: ResetCause['code'] = 'item-ahead-failed', culprit: Culprit | null = ahead(seed)) {
      const cause: ResetCause = { code, at: at(ms), culprit };
      const stage: BuildSetStage = { state: 'superseded', at: at(ms), cause, graph: graph() };
      const builds = cancelAll({ code: 'reset', at: at(ms), culprit });
      const ended: BuildSet = { ...item.buildset, stage, builds, mergerWork: withdrawn() };
      const number = item.buildset.number + 1;
      return put({
        earlier: [...item.earlier, ended],
        buildset: emptyBuildSet(id('buildset', number), number, at(ms), cause),
        events: [...item.events, { at: at(ms), name: 'reset', facts: { code, number } }],
        ...entered('window'),
      });
    },
    /** The executor of a build that was cancelled reports what it had done. */
    lateExecution(job: string, buildsetNumber: number) {
      const amend = (buildset: BuildSet): BuildSet =>
        buildset.number !== buildsetNumber
          ? buildset
          : {
              ...buildset,
              builds: buildset.builds.map(build =>
                build.job === job && build.state.state === 'cancelled' && build.state.startedAt !== null
                  ? {
                      ...build,
                      state: {
                        ...build.state,
                        execution: executionOf(offset(build.state.startedAt) + 3, ms, 'CANCELED'),
                      },
                    }
                  : build,
              ),
            };
      return put({ buildset: amend(item.buildset), earlier: item.earlier.map(amend) });
    },
    report(action: 'start' | 'success' | 'failure' = 'success') {
      const report = id('report', item.reports.length);
      const record = { uuid: report, action, requestedAt: at(ms), done: null };
      const phase = action === 'start' ? item.phase : ({ phase: 'reporting', report, action } as const);
      const timeline = action === 'start' ? { timeline: item.timeline } : entered('reporting');
      return put({ reports: [...item.reports, record], phase, ...timeline });
    },
    reported(outcome: 'done' | 'refused' | 'failed' = 'done', took = 20) {
      const reports = item.reports.map((report, index) =>
        index < item.reports.length - 1
          ? report
          : {
              ...report,
              done: {
                at: at(ms),
                outcome,
                parts: [
                  {
                    kind: 'HostMerge' as const,
                    connection: 'local',
                    startedAt: at(ms - took),
                    endedAt: at(ms - 1),
                    tries: 1,
                    outcome,
                  },
                ],
              },
            },
      );
      return put({ reports });
    },
    leave(reason: LeaveCode = 'reported', result: BuildSetResult = 'SUCCESS') {
      const cause: CancelCause = { code: 'item-left', at: at(ms), culprit: null };
      const { buildset } = item;
      const open = buildset.stage.state !== 'complete';
      const stage: BuildSetStage = open
        ? { state: 'complete', at: at(ms), result: 'DEQUEUED', tested: null, graph: graph() }
        : buildset.stage;
      return put({
        buildset: { ...buildset, stage, builds: cancelAll(cause), mergerWork: withdrawn() },
        phase: { phase: 'left', at: at(ms), reason, result },
      });
    },
  };
  return story;
}

export function jobNode(name: string, ...dependencies: readonly string[]): JobNode {
  return emptyJobNode(name, {
    dependencies: dependencies.map(dependency => ({ name: dependency, soft: false })),
  });
}

/** A failed item ahead, to blame. */
export function ahead(seed = 'ahead'): Culprit {
  return {
    item: derivedUuid(seed, 'ahead', 'item'),
    change: 'acme/app master/broken,deadbeef',
    buildset: derivedUuid(seed, 'ahead', 'buildset'),
    build: derivedUuid(seed, 'ahead', 'build'),
    job: 'unit-tests',
    result: 'FAILURE',
  };
}

const TESTED: TestedMerge = { branches: [], heads: [] };

function offset(time: Nanoseconds): number {
  return Number(BigInt(time) - EPOCH) / 1e6;
}

function mergerSteps(start: number, took: number): readonly Step[] {
  return [
    {
      kind: 'FetchRefs',
      subject: 'local/acme/app',
      startedAt: at(start),
      endedAt: at(start + took * 0.6),
      facts: { refs: 1, bytes: 4096 },
    },
    {
      kind: 'MergeChanges',
      subject: 'local/acme/app',
      startedAt: at(start + took * 0.6),
      endedAt: at(start + took),
      facts: { changes: 2 },
    },
  ];
}

/** What an executor reports of a build that ran from `start` to `end`. */
function executionOf(start: number, end: number, result: BuildResult): Execution {
  const last = Math.max(start + 1, end);
  const span = last - start;
  const part = (from: number, to: number) => ({
    startedAt: at(start + span * from),
    endedAt: at(start + span * to),
  });
  const verdict =
    result === 'FAILURE'
      ? 'FAILURE'
      : result === 'TIMED_OUT'
        ? 'TIMED_OUT'
        : result === 'CANCELED'
          ? 'ABORTED'
          : 'SUCCESS';
  return {
    startedAt: at(start),
    endedAt: at(last),
    steps: [
      { kind: 'BuildRepoUpdate', subject: 'local/acme/app', ...part(0, 0.02), facts: { bytes: 12_000 } },
      {
        kind: 'BuildCheckout',
        subject: 'local/acme/app',
        ...part(0.02, 0.05),
        facts: { branch: 'master', password: 'hunter2' },
      },
      { kind: 'JobSetup', subject: 'sandbox', ...part(0.05, 0.07) },
      {
        kind: 'Playbook',
        subject: 'pre-run/setup.sh',
        ...part(0.07, 0.2),
        result: 'SUCCESS',
        facts: { phase: 'pre-run', index: 0 },
      },
      {
        kind: 'Playbook',
        subject: 'run/test.sh',
        ...part(0.2, 0.9),
        result: verdict,
        facts: { phase: 'run', index: 0, exitCode: verdict === 'FAILURE' ? 1 : 0 },
      },
      { kind: 'Cleanup', subject: 'workspace', ...part(0.95, 1) },
    ],
  };
}

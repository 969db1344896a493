/**
 * What an item spent its time on, in pieces that other items have as well: its states, its jobs, and in them the wait for an
 * executor, the playbooks and what these report of their tasks. Two items are compared piece by piece (`compare-items.ts`).
 */
import { millisecondsBetween, type Nanoseconds } from '../lib/clock.ts';
import { earliest, latest } from '../lib/time-window.ts';
import { type Build, endOfBuild, startOfBuild } from '../model/build.ts';
import type { StretchState } from '../model/item-states.ts';
import { endOfItem, type QueueItem } from '../model/queue-item.ts';
import type { Step, StepKind } from '../model/step.ts';
import { stretchesOf } from './stretches.ts';

/** What a phase is, without its time. */
export type ItemPhaseName =
  | { readonly level: 'state'; readonly state: StretchState }
  /** All attempts of its last buildset, from the first request to the last end. */
  | { readonly level: 'job'; readonly job: string }
  /** What a job does itself, such as `playbook run/test.sh`, and below it the tasks that playbooks report. `name`: for people. */
  | { readonly level: 'part' | 'task'; readonly job: string; readonly name: string };

export type ItemPhase = ItemPhaseName & {
  /** Equal for the same piece of another item. */
  readonly key: string;
  /** Milliseconds; all of one key added up. */
  readonly ms: number;
};

/** States in the order of their first begin, then jobs in the order of their requests, each with its parts. @param now end of what has not ended. */
export function phasesOf(item: QueueItem, now: Nanoseconds): readonly ItemPhase[] {
  const until = latest(endOfItem(item) ?? now, item.enqueuedAt);
  const phases = new Map<string, ItemPhase>();
  for (const { state, from, to } of stretchesOf(item, until))
    add(phases, { level: 'state', state }, from, to);
  const ran = item.buildset.builds.filter(({ state }) => state.state !== 'skipped');
  for (const [job, attempts] of Map.groupBy(ran, build => build.job)) addJob(phases, job, attempts, until);
  return [...phases.values()];
}

function addJob(
  phases: Map<string, ItemPhase>,
  job: string,
  attempts: readonly Build[],
  until: Nanoseconds,
): void {
  const [first] = attempts;
  if (first === undefined) return;
  const ends = attempts.map(build => earliest(endOfBuild(build) ?? until, until));
  add(phases, { level: 'job', job }, first.requestedAt, ends.reduce(latest));
  for (const build of attempts) {
    const end = earliest(endOfBuild(build) ?? until, until);
    add(phases, { level: 'part', job, name: WAIT }, build.requestedAt, startOfBuild(build) ?? end);
    for (const step of stepsOf(build)) addStep(phases, job, step);
  }
}

const WAIT = 'wait for an executor or hosts';

function stepsOf({ state }: Build): readonly Step[] {
  return state.state === 'completed' || state.state === 'cancelled' ? (state.execution?.steps ?? []) : [];
}

/** Steps of the build itself are its parts; below them only tasks count, so that no time of a part counts twice. */
function addStep(phases: Map<string, ItemPhase>, job: string, step: Step): void {
  const name = PARTS[step.kind];
  if (name !== null)
    add(phases, { level: 'part', job, name: name(step.subject) }, step.startedAt, step.endedAt);
  for (const below of step.steps ?? []) addTasks(phases, job, below);
}

function addTasks(phases: Map<string, ItemPhase>, job: string, step: Step): void {
  if (TASKS.has(step.kind))
    add(phases, { level: 'task', job, name: step.subject }, step.startedAt, step.endedAt);
  for (const below of step.steps ?? []) addTasks(phases, job, below);
}

const TASKS: ReadonlySet<StepKind> = new Set(['AnsibleTask', 'ScriptStep', 'SemaphoreWait', 'HostWait']);

const repositories = () => 'repositories';

/** What a step of a build is called; null: it is no step of a build. */
const PARTS: { readonly [kind in StepKind]: ((subject: string) => string) | null } = {
  BuildRepoCheck: repositories,
  BuildRepoAccess: repositories,
  BuildRepoUpdateLock: repositories,
  BuildRepoUpdate: repositories,
  BuildCloneRepo: repositories,
  BuildMergeChanges: repositories,
  BuildCheckoutSize: repositories,
  BuildSetRepoState: repositories,
  BuildCheckout: repositories,
  JobSetup: () => 'set-up',
  Playbook: subject => `playbook ${subject}`,
  SemaphoreWait: () => 'wait for a semaphore',
  Pause: () => 'paused for jobs that depend on it',
  TestResults: () => 'reading test results',
  Cleanup: () => 'clean-up',
  HostWait: () => 'wait for the code host',
  AnsiblePlay: null,
  AnsibleTask: null,
  ScriptStep: null,
  TestSuite: null,
  TestCase: null,
  FetchRefs: null,
  MergeChanges: null,
  ReadConfig: null,
  HostQuery: null,
};

function add(phases: Map<string, ItemPhase>, name: ItemPhaseName, from: Nanoseconds, to: Nanoseconds): void {
  const key = keyOf(name);
  const ms = Math.max(0, millisecondsBetween(from, to)) + (phases.get(key)?.ms ?? 0);
  phases.set(key, { ...name, key, ms });
}

/** Names are by strangers: JSON keeps them apart. */
function keyOf(name: ItemPhaseName): string {
  switch (name.level) {
    case 'state':
      return JSON.stringify([name.level, name.state]);
    case 'job':
      return JSON.stringify([name.level, name.job]);
    case 'part':
    case 'task':
      return JSON.stringify([name.level, name.job, name.name]);
  }
}

/**
 * The job graph of a merged buildset: stations 7 and 8 of the trip, computed inside the turn that learns of the merge.
 *
 * A change that edits configuration is tested with a layout of its own: the tenant's files with those of the item and the
 * items ahead in their place. Files of config-projects are only checked: what they say counts after the merge.
 */

import { freezeJobGraph } from '../layout/freeze-job-graph.ts';
import type { FreezeChange } from '../layout/freeze-request.ts';
import type { Layout } from '../layout/layout.ts';
import type { SpeculativeLayout } from '../layout/speculative-layout.ts';
import type { Clock } from '../lib/clock.ts';
import { type TurnWork, testedMergeOf } from '../model/build-set.ts';
import type { Change } from '../model/change.ts';
import type { ConfigError } from '../model/config-error.ts';
import { jobNodeOf } from '../model/job.ts';
import type { BranchConfig, MergerOutcome, ProjectState } from '../model/merge.ts';
import type { PipelineState } from '../model/pipeline-state.ts';
import type { PipelineName, ProjectKey } from '../model/project.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { FreezeFact, Need } from '../pipeline/turn.ts';
import type { JobGraphs } from './job-graphs.ts';
import { missingStates, neededStates } from './needed-states.ts';

type Merged = Extract<MergerOutcome, { kind: 'merged' }>;

export interface FreezeContext {
  readonly clock: Clock;
  readonly graphs: JobGraphs;
  readonly pipeline: PipelineName;
  readonly layout: Layout;
  /** The layout with these files in place, and what they break; remembers what it made. */
  speculative(files: readonly BranchConfig[]): SpeculativeLayout & { readonly cached: boolean };
  /** Heads such an item needed this time: asked for in advance next time. */
  learn(change: Change, states: readonly ProjectState[]): void;
}

export function freezeBuildset(
  need: Need,
  state: PipelineState,
  outcome: MergerOutcome | undefined,
  context: FreezeContext,
): FreezeFact {
  const item = state.items.get(need.item);
  if (item === undefined) throw new Error(`a job graph is needed for item ${need.item}, which is not there`);
  if (outcome?.kind !== 'merged')
    throw new Error(`a job graph is needed for buildset ${need.buildset} without its merge result`);
  const layout = layoutFor(outcome, context);
  const [first, ...rest] = layout.errors;
  if (first !== undefined) return { kind: 'misconfigured', errors: [first, ...rest], work: [layout.work] };
  return freeze(item, outcome, layout, context);
}

interface ItemLayout {
  readonly layout: Layout;
  readonly speculative: boolean;
  readonly work: TurnWork;
  readonly errors: readonly ConfigError[];
}

function layoutFor(outcome: Merged, context: FreezeContext): ItemLayout {
  const startedAt = context.clock.now();
  const own = outcome.config.length > 0;
  const { layout, errors, cached } = own
    ? context.speculative(outcome.config)
    : { layout: context.layout, errors: [], cached: true };
  return {
    layout,
    speculative: own,
    errors: errors.filter(error => error.severity === 'error'),
    work: { kind: 'layout', startedAt, endedAt: context.clock.now(), cached, jobs: [] },
  };
}

function freeze(
  item: QueueItem,
  outcome: Merged,
  itemLayout: ItemLayout,
  context: FreezeContext,
): FreezeFact {
  const startedAt = context.clock.now();
  const { layout } = itemLayout;
  const frozen = freezeJobGraph({
    layout,
    pipeline: context.pipeline,
    change: freezeChange(item.changes[0], outcome),
    ...(itemLayout.speculative ? { before: context.layout } : {}),
  });
  const work: readonly TurnWork[] = [
    itemLayout.work,
    { kind: 'freeze', startedAt, endedAt: context.clock.now(), cached: false, jobs: [] },
  ];
  switch (frozen.kind) {
    case 'not-in-pipeline':
      return { kind: 'not-in-pipeline', work };
    case 'misconfigured':
      return { kind: 'misconfigured', errors: frozen.errors, work };
    case 'frozen': {
      const tested = testedMergeOf(item.buildset);
      if (tested === null) throw new Error(`buildset ${item.buildset.uuid} is frozen before it is merged`);
      const defaultBranch = (project: ProjectKey) => layout.projects.get(project)?.defaultBranch;
      context.learn(item.changes[0], neededStates(frozen.jobs, item.changes, defaultBranch));
      return {
        kind: 'frozen',
        work,
        blob: context.graphs.put({ jobs: frozen.jobs }),
        jobs: frozen.jobs.map(jobNodeOf),
        verdicts: frozen.verdicts.map(verdict => ({
          job: verdict.kind === 'runs' ? verdict.job.name : verdict.name,
          runs: verdict.kind === 'runs',
          because: verdict.because,
        })),
        missingStates: missingStates(frozen.jobs, item.changes, tested, defaultBranch),
      };
    }
  }
}

function freezeChange(change: Change, outcome: Merged): FreezeChange {
  const files = outcome.filesChanged.find(each => each.project === change.project)?.files ?? null;
  if (change.kind === 'change') return { project: change.project, branch: change.branch, files };
  return {
    project: change.project,
    branch: change.branch ?? null,
    files,
    ...(change.branch === undefined ? { ref: change.ref } : {}),
  };
}

/**
 * The job graph of a merged buildset as a fact of the turn: stages 7 and 8. It was computed beside the turn (pending-freezes.ts);
 * here it is stored under its name, and the heads that it needs beyond the merge are determined.
 *
 * A change that edits configuration is tested with a layout of its own: the tenant's files with those of the item and the
 * items ahead in their place. Files of config-projects are only checked: what they say counts after the merge.
 */
import { secretsOfJobs } from '../../layout/build/layout-secret.ts';
import { addMilliseconds, earlierOf, laterOf } from '../../lib/clock.ts';
import { leadChange } from '../../model/about-item.ts';
import { type TurnWork, testedMergeOf } from '../../model/build-set.ts';
import { type FrozenJob, type JobGraph, jobNodeOf } from '../../model/job.ts';
import type { PipelineState } from '../../model/pipeline-state.ts';
import type { ProjectKey } from '../../model/project.ts';
import type { PlacedSecret } from '../../model/secret.ts';
import type { FreezeFact, Need } from '../../pipeline/turn.ts';
import { missingStates, neededStates } from './needed-states.ts';
import type { PreparedFreeze } from './pending-freezes.ts';
import type { PipelineContext } from './pipeline-context.ts';

/** @param prepared of this buildset. */
export function freezeBuildset(
  need: Need,
  state: PipelineState,
  prepared: PreparedFreeze | undefined,
  context: Pick<PipelineContext, 'graphs' | 'learn'>,
): FreezeFact {
  const item = state.items.get(need.item);
  if (item === undefined) throw new Error(`a job graph is needed for the unknown item ${need.item}`);
  if (prepared === undefined)
    throw new Error(`a job graph is needed for buildset ${need.buildset} without its merge result`);
  const { outcome, secrets, defaultBranches } = prepared.answer;
  const work = workOf(prepared);
  switch (outcome.kind) {
    case 'not-in-pipeline':
      return { kind: 'not-in-pipeline', work };
    case 'misconfigured':
      return { kind: 'misconfigured', errors: outcome.errors, work };
    case 'frozen': {
      const tested = testedMergeOf(item.buildset);
      if (tested === null) throw new Error(`buildset ${item.buildset.uuid} is frozen before it is merged`);
      const defaultBranch = (project: ProjectKey) => defaultBranches.get(project);
      context.learn(leadChange(item), neededStates(outcome.jobs, item.changes, defaultBranch));
      return {
        kind: 'frozen',
        work,
        blob: context.graphs.put(graphWith(outcome.jobs, secrets)),
        jobs: outcome.jobs.map(jobNodeOf),
        verdicts: outcome.verdicts.map(verdict => ({
          job: verdict.kind === 'runs' ? verdict.job.name : verdict.name,
          runs: verdict.kind === 'runs',
          because: verdict.because,
        })),
        missingStates: missingStates(outcome.jobs, item.changes, tested, defaultBranch),
      };
    }
  }
}

/** Secrets stay encrypted in it; each is there once, for any number of jobs. */
function graphWith(jobs: readonly FrozenJob[], secrets: readonly PlacedSecret[]): JobGraph {
  const used = secretsOfJobs(jobs);
  const named = secrets.filter(({ sha256 }) => used.has(sha256));
  if (named.length === 0) return { jobs };
  return { jobs, secrets: Object.fromEntries(named.map(({ sha256, secret }) => [sha256, secret])) };
}

/** The layout, including the wait for its thread; then the freeze. */
function workOf({ askedAt, answeredAt, answer }: PreparedFreeze): readonly TurnWork[] {
  const { cached, freezeMs, jobTimes } = answer;
  const common = { startedAt: askedAt, endedAt: answeredAt, jobs: [] };
  if (freezeMs === null) return [{ ...common, kind: 'layout', cached }];
  const frozenFrom = laterOf(askedAt, addMilliseconds(answeredAt, -freezeMs));
  const within = (ms: number) => earlierOf(addMilliseconds(frozenFrom, ms), answeredAt);
  const jobs = jobTimes.map(({ name, from, to }) => ({ name, startedAt: within(from), endedAt: within(to) }));
  return [
    { ...common, kind: 'layout', endedAt: frozenFrom, cached },
    { ...common, kind: 'freeze', startedAt: frozenFrom, cached: false, jobs },
  ];
}

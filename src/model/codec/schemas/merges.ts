/** Requests to mergers and their answers, and the merges that buildsets test. */
import type {
  BranchConfig,
  BranchHead,
  ChainRecipe,
  ConfigFile,
  ConfigFilesRequest,
  LeftOut,
  MergeConflict,
  MergedBranch,
  MergedInput,
  MergeInput,
  MergeRequest,
  MergerOutcome,
  MergerRequest,
  ProjectState,
  TooLargeBranch,
} from '../../merge.ts';
import type { WorkerLoss } from '../../worker-loss.ts';
import {
  added,
  change,
  commit,
  flag,
  list,
  mark,
  nullable,
  object,
  optional,
  project,
  tagged,
  text,
  time,
  uuid,
  whole,
} from '../schema.ts';
import { hostTroubleSchema } from './causes.ts';
import { mergeMode } from './change.ts';
import { stepsSchema } from './spans.ts';

/** {@link WorkerLoss} */
export const workerLossSchema = object<WorkerLoss>({ from: time, at: time });

const common = {
  uuid,
  tenant: text,
  requestedAt: time,
  priority: whole,
  item: optional(
    object<NonNullable<MergerRequest['item']>>({
      pipeline: text,
      item: uuid,
      buildset: uuid,
      sampled: flag,
    }),
  ),
};

const input = object<MergeInput>({
  change,
  project,
  branch: text,
  ref: text,
  commit,
  message: text,
  mode: mergeMode,
});
const states = list(object<ProjectState>({ project, branches: list(text) }));

/** {@link MergerRequest}, the record `merger-request`. */
export const mergerRequestSchema = tagged<MergerRequest, 'kind'>('kind', {
  merge: {
    ...common,
    inputs: list(input),
    own: whole,
    ahead: optional(list(whole)),
    states,
    alwaysRead: optional(
      list(object<NonNullable<MergeRequest['alwaysRead']>[number]>({ project, branch: text })),
    ),
    extraPaths: optional(
      list(object<NonNullable<MergeRequest['extraPaths']>[number]>({ project, paths: list(text) })),
    ),
    pinned: list(
      object<MergeRequest['pinned'][number]>({
        project,
        ref: text,
        branch: optional(text),
        commit,
        before: nullable(commit),
        wantsLanded: optional(mark),
      }),
    ),
  },
  'repo-state': { ...common, states },
  'config-files': {
    ...common,
    project,
    branches: list(text),
    atLeast: list(object<ConfigFilesRequest['atLeast'][number]>({ branch: text, commit })),
    extraPaths: optional(list(text)),
  },
});

/** {@link BranchConfig}, the record `branch-config`. */
export const branchConfigSchema = object<BranchConfig>({
  project,
  branch: text,
  commit,
  files: list(object<ConfigFile>({ path: text, text, problem: optional(text) })),
});

/** A list of {@link BranchHead}. */
export const headsSchema = list(object<BranchHead>({ project, branch: text, commit }));

const mergedInputs = list(object<MergedInput>({ ref: text, commit, message: text, mode: mergeMode }));

/** {@link MergedBranch} */
export const mergedBranchSchema = object<MergedBranch>({
  project,
  branch: text,
  base: commit,
  commit,
  tree: text,
  before: commit,
  beforeTree: added(nullable(text), () => null),
  inputs: optional(mergedInputs),
  recipe: optional(text),
});

/** {@link ChainRecipe}, the record `chain-recipe`. */
export const chainRecipeSchema = object<ChainRecipe>({
  request: uuid,
  branches: list(object<ChainRecipe['branches'][number]>({ project, branch: text, inputs: mergedInputs })),
});

const conflictFields = { change, project, files: list(text), with: optional(change), reason: optional(text) };

/** {@link MergeConflict} */
export const mergeConflictSchema = object<MergeConflict>(conflictFields);

/** Changed paths by project. */
export const filesChangedSchema = list(
  object<{ readonly project: LeftOut['project']; readonly files: readonly string[] }>({
    project,
    files: list(text),
  }),
);

const leftOut = optional(list(object<LeftOut>({ ...conflictFields, item: whole })));
const tooLarge = optional(list(object<TooLargeBranch>({ branch: text, commit, text })));
const work = { steps: stepsSchema, worker: text };

/** {@link MergerOutcome}, the record `merger-outcome`. */
export const mergerOutcomeSchema = tagged<MergerOutcome, 'kind'>('kind', {
  merged: {
    branches: list(mergedBranchSchema),
    filesChanged: filesChangedSchema,
    config: list(branchConfigSchema),
    heads: headsSchema,
    landed: optional(headsSchema),
    leftOut,
    ...work,
  },
  conflict: { ...conflictFields, leftOut, ...work },
  'repo-state': { heads: headsSchema, ...work },
  'config-files': { branches: list(branchConfigSchema), tooLarge, ...work },
  failed: { text, retryable: flag, trouble: optional(hostTroubleSchema), ...work },
});

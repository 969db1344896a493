/** The changes of one request, merged in their order on each branch they belong to, by the mirrors' memoised chains. */

import { type ObjectId, parseObjectId } from '../git/object-id.ts';
import type { ObjectReader } from '../git/object-reader.ts';
import { pathBytes } from '../git/tree.ts';
import { OverBudget } from '../git/tree-budget.ts';
import { assertNever } from '../lib/assert-never.ts';
import type { ChangeKey } from '../model/change.ts';
import type { MergeConflict, MergedBranch, MergeInput, MergeRequest } from '../model/merge.ts';
import { type BranchName, type ProjectKey, parseCommitId } from '../model/project.ts';
import type { StepRecorder } from '../tracing/step-recorder.ts';
import { type Failure, updateFailure } from './failure.ts';
import type { ProjectAtHand } from './fetch-state.ts';

/** Changes of one branch of one project, in order, with their places among all inputs. */
export interface Lane {
  readonly project: ProjectKey;
  readonly branch: BranchName;
  readonly inputs: readonly { readonly input: MergeInput; readonly index: number; readonly own: boolean }[];
}

export interface LaneConflict extends MergeConflict {
  readonly kind: 'conflict';
  /** Place among all inputs. */
  readonly index: number;
}

/** The changes of a request by project and branch. */
export function lanesOf(request: MergeRequest): readonly Lane[] {
  const firstOwn = request.inputs.length - request.own;
  const all = request.inputs.map((input, index) => ({ input, index, own: index >= firstOwn }));
  const grouped = Map.groupBy(all, ({ input }) => JSON.stringify([input.project, input.branch]));
  return [...grouped.values()].flatMap(inputs => {
    const first = inputs[0];
    return first === undefined ? [] : [{ project: first.input.project, branch: first.input.branch, inputs }];
  });
}

export type Projects = ReadonlyMap<ProjectKey, ProjectAtHand>;

/** All lanes at once; of several conflicts the one of the earliest change is told. */
export async function mergeLanes(projects: Projects, lanes: readonly Lane[], steps: StepRecorder) {
  const results = await Promise.all(
    lanes.map(lane =>
      steps.run(
        'MergeChanges',
        lane.project,
        () => mergeLane(projects, lane),
        ({ kind }) => ({
          facts: { project: lane.project, branch: lane.branch, changes: lane.inputs.length },
          ...(kind === 'branch' ? {} : { result: 'FAILURE' }),
        }),
      ),
    ),
  );
  const failure = results.find(result => result.kind === 'failed');
  if (failure !== undefined) return failure;
  const [conflict] = results
    .flatMap(result => (result.kind === 'conflict' ? [result] : []))
    .sort((a, b) => a.index - b.index);
  if (conflict !== undefined) {
    const { index: _, ...told } = conflict;
    return told;
  }
  return {
    kind: 'merged',
    branches: results.flatMap(result => (result.kind === 'branch' ? [result.branch] : [])),
  } as const;
}

async function mergeLane(
  projects: Projects,
  { project, branch, inputs }: Lane,
): Promise<{ readonly kind: 'branch'; readonly branch: MergedBranch } | LaneConflict | Failure> {
  const atHand = projects.get(project);
  const base = atHand?.tips.get(branch);
  if (atHand === undefined || base === undefined)
    return updateFailure(project, `there is no branch ${branch}`);
  for (const { input } of inputs) {
    const heavy = await tooHeavy(atHand, base, input);
    if (heavy !== undefined) return heavy;
  }
  const steps = inputs.map(({ input }) => ({ change: parseObjectId(input.commit), message: input.message }));
  const outcome = await atHand.repository.chain.merge(base, steps);
  switch (outcome.kind) {
    case 'merged': {
      const states = [{ commit: base }, ...outcome.links];
      const ahead = inputs.filter(({ own }) => !own).length;
      const last = outcome.links.at(-1);
      const before = states[ahead]?.commit;
      if (last === undefined || before === undefined)
        throw new Error('a chain gave fewer links than it had steps');
      return {
        kind: 'branch',
        branch: {
          project,
          branch,
          base: parseCommitId(base),
          commit: parseCommitId(last.commit),
          tree: last.tree,
          before: parseCommitId(before),
          inputs: inputs.map(({ input: { ref, commit, message } }) => ({ ref, commit, message })),
        },
      };
    }
    case 'conflict':
    case 'unrelated': {
      const culprit = inputs[outcome.at];
      if (culprit === undefined) throw new Error('a chain failed at a step it was not given');
      const files = outcome.kind === 'conflict' ? outcome.files : [];
      const other = await lastToTouch(
        atHand.repository.reader,
        base,
        outcome.links.map(({ tree }, at) => ({ tree, change: inputs[at]?.input.change })),
        files,
      );
      return {
        kind: 'conflict',
        index: culprit.index,
        change: culprit.input.change,
        project,
        files,
        ...(other === undefined ? {} : { with: other }),
      };
    }
    case 'unsupported-mode':
      return updateFailure(project, `the merge mode ${outcome.mode} is not supported; use "merge"`);
    default:
      return assertNever(outcome);
  }
}

/** Files of a conflict that are looked for in the changes ahead. */
const LOOKED_FOR = 10;

/** The last of the changes that left one of the files different from how it found it. @param merged trees after each. */
async function lastToTouch(
  reader: Pick<ObjectReader, 'commit' | 'entry'>,
  base: ObjectId,
  merged: readonly { readonly tree: ObjectId; readonly change: ChangeKey | undefined }[],
  files: readonly string[],
): Promise<ChangeKey | undefined> {
  const paths = files.slice(0, LOOKED_FOR).map(pathBytes);
  const entriesOf = (tree: ObjectId) =>
    Promise.all(paths.map(async path => (await reader.entry(tree, path))?.id));
  const first = await entriesOf((await reader.commit(base)).tree);
  let culprit: ChangeKey | undefined;
  let before = first;
  for (const { tree, change } of merged) {
    const after = await entriesOf(tree);
    if (after.some((id, index) => id !== before[index])) culprit = change;
    before = after;
  }
  return culprit;
}

/** Looked at before git merges it: nothing bounds the memory git takes for a tree of 10^10 paths. */
async function tooHeavy(
  { project, repository }: ProjectAtHand,
  base: ObjectId,
  { change, commit }: MergeInput,
): Promise<Failure | undefined> {
  try {
    await repository.weigh(base, parseObjectId(commit));
    return undefined;
  } catch (error) {
    if (!(error instanceof OverBudget) || error.of === 'time') throw error;
    return {
      kind: 'failed',
      text: `Unable to merge ${change} into ${project}: ${error.message}`,
      retryable: false,
    };
  }
}

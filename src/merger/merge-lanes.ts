/** The changes of one request, merged in their order on each branch they belong to, by the mirrors' cached chains. */

import type { GroupOutcome } from '../git/merge/merge-chain.ts';
import { type ObjectId, parseObjectId } from '../git/objects/object-id.ts';
import { OverBudget } from '../git/objects/tree-budget.ts';
import type { MergeConflict, MergedBranch, MergeInput, MergeRequest } from '../model/merge.ts';
import { type BranchName, type ProjectKey, parseCommitId } from '../model/project.ts';
import type { StepRecorder } from '../tracing/step-recorder.ts';
import { type Failure, updateFailure } from './failure.ts';
import type { FetchedProject } from './fetch-state.ts';

/** An input of the request, with its place among all inputs and its item. */
interface LaneInput {
  readonly input: MergeInput;
  readonly index: number;
  /** Place in the request's `ahead`; the one after the last: the item itself. */
  readonly item: number;
  readonly own: boolean;
}

/** Changes of one branch of one project, in order. */
interface Lane {
  readonly project: ProjectKey;
  readonly branch: BranchName;
  readonly inputs: readonly LaneInput[];
}

/** A conflict, and whose it is. */
export interface ItemConflict extends MergeConflict {
  /** Place in the request's `ahead`; the one after the last: the item itself. */
  readonly item: number;
  /** Place among all inputs. */
  readonly index: number;
}

interface LaneResult {
  readonly kind: 'lane';
  readonly lane: Lane;
  readonly base: ObjectId;
  readonly baseTree: ObjectId;
  readonly merged: readonly (LaneInput & { readonly commit: ObjectId; readonly tree: ObjectId })[];
  readonly conflicts: readonly ItemConflict[];
}

/** All projects of one request, fetched. */
export type Projects = ReadonlyMap<ProjectKey, FetchedProject>;

/** What is left when items with conflicts are left out. */
export interface MergedLanes {
  readonly kind: 'merged';
  /** Branches that changes were merged into. */
  readonly branches: readonly MergedBranch[];
  /** Items that were left out, oldest first; the item itself may be the last. */
  readonly conflicts: readonly ItemConflict[];
}

/** Without sizes of the items ahead all inputs are one item: the first conflict is its conflict. */
function itemsOf({ inputs, own, ahead = [] }: MergeRequest): readonly LaneInput[] {
  const items = ahead.flatMap((size, item) => Array.from({ length: size }, () => item));
  const firstOwn = inputs.length - own;
  return inputs.map((input, index) => ({
    input,
    index,
    item: items[index] ?? ahead.length,
    own: index >= firstOwn,
  }));
}

/** The changes of a request by project and branch. */
function lanesOf(request: MergeRequest): readonly Lane[] {
  const grouped = Map.groupBy(itemsOf(request), ({ input }) => JSON.stringify([input.project, input.branch]));
  return [...grouped.values()].flatMap(inputs => {
    const first = inputs[0];
    return first === undefined ? [] : [{ project: first.input.project, branch: first.input.branch, inputs }];
  });
}

/**
 * Merges all lanes side by side, past the items that conflict. An item is in all of its lanes or in none: the oldest item that
 * conflicts in one lane only is removed from the others, which are then merged again; links before it come from the cache.
 */
export async function mergeLanes(
  projects: Projects,
  request: MergeRequest,
  steps: StepRecorder,
): Promise<MergedLanes | Failure> {
  const lanes = lanesOf(request);
  const own = request.ahead?.length ?? 0;
  const takenOut = new Map<number, ItemConflict>();
  for (;;) {
    const results = await Promise.all(
      lanes.map(lane => mergeRecorded(projects, withoutItems(lane, takenOut), own, steps)),
    );
    const failure = results.find(result => result.kind === 'failed');
    if (failure !== undefined) return failure;
    const done = results.flatMap(result => (result.kind === 'lane' ? [result] : []));
    const conflicts = firstPerItem([...takenOut.values(), ...done.flatMap(result => result.conflicts)]);
    const torn = conflicts.find(({ item }) => item < own && done.some(result => holds(result, item)));
    if (torn === undefined) return { kind: 'merged', branches: done.flatMap(branchOf), conflicts };
    takenOut.set(torn.item, torn);
  }
}

function withoutItems(lane: Lane, items: ReadonlyMap<number, unknown>): Lane {
  return { ...lane, inputs: lane.inputs.filter(({ item }) => !items.has(item)) };
}

function holds({ merged }: LaneResult, item: number): boolean {
  return merged.some(each => each.item === item);
}

/** For each item the conflict of its earliest change. Sorted by item. */
function firstPerItem(conflicts: readonly ItemConflict[]): readonly ItemConflict[] {
  const sorted = conflicts.toSorted((a, b) => a.item - b.item || a.index - b.index);
  return sorted.filter(({ item }, at) => item !== sorted[at - 1]?.item);
}

/** The step fails with the item's own conflict; the conflicts of other items fail their own steps. */
function mergeRecorded(projects: Projects, lane: Lane, own: number, steps: StepRecorder) {
  return steps.run(
    'MergeChanges',
    lane.project,
    () => mergeLane(projects, lane),
    result => ({
      facts: { project: lane.project, branch: lane.branch, changes: lane.inputs.length },
      ...(result.kind === 'lane' && result.conflicts.every(({ item }) => item < own)
        ? {}
        : { result: 'FAILURE' }),
    }),
  );
}

async function mergeLane(projects: Projects, lane: Lane): Promise<LaneResult | Failure> {
  const { project, branch, inputs } = lane;
  const fetched = projects.get(project);
  const base = fetched?.tips.get(branch);
  if (fetched === undefined || base === undefined)
    return updateFailure(project, `there is no branch ${branch}`);
  for (const { input } of inputs) {
    const heavy = await tooHeavy(fetched, base, input);
    if (heavy !== undefined) return heavy;
  }
  const groups = [...Map.groupBy(inputs, ({ item }) => item).values()];
  const outcomes = await fetched.repository.chain.mergePast(
    base,
    groups.map(group =>
      group.map(({ input: { commit, message, mode = 'merge' } }) => ({
        change: parseObjectId(commit),
        message,
        mode,
      })),
    ),
  );
  const pairs = groups.flatMap((group, at) => {
    const outcome = outcomes[at];
    return outcome === undefined ? [] : [{ group, outcome }];
  });
  return {
    kind: 'lane',
    lane,
    base,
    baseTree: (await fetched.repository.reader.commit(base)).tree,
    merged: pairs.flatMap(({ group, outcome }) => mergedInputs(group, outcome)),
    conflicts: pairs.flatMap(({ group, outcome }) => conflictOf(lane, group, outcome)),
  };
}

function mergedInputs(group: readonly LaneInput[], outcome: GroupOutcome): LaneResult['merged'] {
  if (outcome.kind !== 'merged') return [];
  return group.flatMap((each, at) => {
    const link = outcome.links[at];
    return link === undefined ? [] : [{ ...each, ...link }];
  });
}

function conflictOf(
  { project, inputs }: Lane,
  group: readonly LaneInput[],
  outcome: GroupOutcome,
): readonly ItemConflict[] {
  if (outcome.kind !== 'left-out') return [];
  const culprit = group[outcome.at];
  if (culprit === undefined) throw new Error('a chain failed at a step it was not given');
  const { because } = outcome;
  const isCulprit = ({ input }: LaneInput) =>
    because.kind === 'conflict' && parseObjectId(input.commit) === because.with;
  const other = inputs.find(isCulprit);
  return [
    {
      item: culprit.item,
      index: culprit.index,
      change: culprit.input.change,
      project,
      files: because.kind === 'conflict' ? because.files : [],
      ...(other === undefined ? {} : { with: other.input.change }),
      ...(because.kind === 'refused' ? { reason: because.text } : {}),
    },
  ];
}

/** A lane may be empty, when all its items conflict. */
function branchOf({
  lane: { project, branch },
  base,
  baseTree,
  merged,
}: LaneResult): readonly MergedBranch[] {
  const last = merged.at(-1);
  if (last === undefined) return [];
  const before = merged.findLast(({ own }) => !own) ?? { commit: base, tree: baseTree };
  return [
    {
      project,
      branch,
      base: parseCommitId(base),
      commit: parseCommitId(last.commit),
      tree: last.tree,
      before: parseCommitId(before.commit),
      beforeTree: before.tree,
      inputs: merged.map(({ input: { ref, commit, message, mode } }) => ({
        ...{ ref, commit, message },
        ...(mode === undefined ? {} : { mode }),
      })),
    },
  ];
}

/** Checked before git merges it: the memory git takes for a tree of 10^10 paths has no bound. */
async function tooHeavy(
  { project, repository }: FetchedProject,
  base: ObjectId,
  { ref, commit }: MergeInput,
): Promise<Failure | undefined> {
  try {
    await repository.weigh(base, parseObjectId(commit));
    return undefined;
  } catch (error) {
    if (!(error instanceof OverBudget) || error.of === 'time') throw error;
    return {
      kind: 'failed',
      text: `Unable to merge ${ref} into ${project}: ${error.message}`,
      retryable: false,
    };
  }
}

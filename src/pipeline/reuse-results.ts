/**
 * Results of merge groups that are answered at once, in pipelines with `reuse-results`.
 *
 *     begin            the state of a group is complete: heads and jobs are known → the newest success in the same state, if any
 *     all jobs ended   success: the state is remembered; failure: it is forgotten
 *     a job failed     forgotten, before the buildset ends
 *
 * A state is the project, the branch that the group will land on, the tree, the frozen jobs (by content) and the heads of all other
 * branches and projects that the buildset knows: what the jobs check out, and where their playbooks come from; for a config-project also
 * what the branch holds, where trusted playbooks come from. What else a job may
 * see (commit message, history, `zuul.ref`, the time) is not part of it, which is why pipelines have to ask for this.
 *
 * Memory is part of the pipeline's record, so it is committed with the turn that learns it and goes with the pipeline to another
 * scheduler. Without the option it is dropped.
 */
import { millisecondsBetween } from '../lib/clock.ts';
import { sha256 } from '../lib/ids.ts';
import { aboutItem, changesText } from '../model/about-item.ts';
import { type FrozenGraph, graphOf, type TestedMerge, testedMergeOf } from '../model/build-set.ts';
import type { TestedState } from '../model/pipeline-state.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { BuildSetResult } from '../model/results.ts';
import type { TurnDraft } from './turn-draft.ts';

/** States remembered for one pipeline; its record is written in most turns. */
const MOST_STATES = 32;
/** Longer than a group waits in GitHub's queue. */
const COUNTS_FOR_MS = 24 * 3_600_000;

/** @returns the item with the result of an earlier buildset in the same state, and the decision made; undefined: it is tested. */
export function reuseResult(
  draft: TurnDraft,
  item: QueueItem,
  tested: TestedMerge,
  graph: FrozenGraph,
): QueueItem | undefined {
  const { now } = draft.input;
  const state = stateOfGroup(item, tested, graph);
  const found = draft.testedStates.find(
    each => each.state === state && millisecondsBetween(each.at, now) < COUNTS_FOR_MS,
  );
  if (found === undefined) return undefined;
  const text = `${changesText(item)} was tested before: the same tree, jobs and heads succeeded in buildset ${found.buildset} of item ${found.item}`;
  draft.decide('tested-before', aboutItem(item), text);
  const testedBefore = { item: found.item, buildset: found.buildset };
  const stage = { state: 'complete', at: now, result: 'SUCCESS', tested, graph: null, testedBefore } as const;
  return { ...item, buildset: { ...item.buildset, stage } };
}

/** Call it when all jobs of the buildset have ended. */
export function rememberResult(draft: TurnDraft, item: QueueItem, result: BuildSetResult): void {
  forgetResult(draft, item);
  const state = knownState(item);
  if (draft.input.pipeline.reuseResults !== true || state === undefined || result !== 'SUCCESS') return;
  const entry: TestedState = {
    state,
    at: draft.input.now,
    item: item.uuid,
    buildset: item.buildset.uuid,
  };
  draft.testedStates = [...draft.testedStates, entry].slice(-MOST_STATES);
}

/** The state of the item is tested again, next time. */
export function forgetResult(draft: TurnDraft, item: QueueItem): void {
  const state = knownState(item);
  if (draft.testedStates.some(each => each.state === state))
    draft.testedStates = draft.testedStates.filter(each => each.state !== state);
}

function knownState(item: QueueItem): string | undefined {
  const tested = testedMergeOf(item.buildset);
  const graph = graphOf(item.buildset);
  return tested === null || graph === null ? undefined : stateOfGroup(item, tested, graph);
}

/** Undefined for all but a merge group that is tested as it is, alone. */
function stateOfGroup(item: QueueItem, tested: TestedMerge, graph: FrozenGraph): string | undefined {
  const [change, ...others] = item.changes;
  if (change.kind !== 'ref' || change.targetBranch === undefined || change.tree === undefined)
    return undefined;
  if (others.length > 0 || item.behind !== null || tested.branches.length > 0) return undefined;
  const { project, targetBranch, tree } = change;
  const heads = tested.heads
    .filter(head => head.project !== project || head.branch !== targetBranch)
    .map(head => `${head.project} ${head.branch} ${head.commit}`)
    .sort();
  const landed = (tested.landed ?? []).map(head => `${head.project} ${head.branch} ${head.commit}`);
  return sha256(JSON.stringify([project, targetBranch, tree, graph.blob, heads, ...landed]));
}

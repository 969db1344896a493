/** Merger requests for items: the changes ahead, the own ones, and the project heads the jobs will likely need. */

import type { Nanoseconds } from '../../lib/clock.ts';
import type { Uuid } from '../../lib/ids.ts';
import { type Change, type ProposedChange, type RefUpdate, targetBranchOf } from '../../model/change.ts';
import type { MergeInput, MergeRequest, ProjectState, RepoStateRequest } from '../../model/merge.ts';
import type { MergeMode } from '../../model/merge-mode.ts';
import { squashMessage } from '../../model/merge-text.ts';
import type { Precedence } from '../../model/pipeline.ts';
import { chainOf } from '../../model/pipeline-state.ts';
import type { BranchName, ProjectKey } from '../../model/project.ts';
import type { QueueItem } from '../../model/queue-item.ts';

/** Requests of a pipeline with precedence `high` are taken first. */
export function priorityOf(precedence: Precedence): number {
  const priorities: { readonly [precedence in Precedence]: number } = { high: 100, normal: 200, low: 300 };
  return priorities[precedence];
}

/** `items` are those of the draft: the chain is read from their `behind` links. */
export interface MergerRequestContext {
  readonly items: ReadonlyMap<Uuid, QueueItem>;
  readonly now: Nanoseconds;
  readonly priority: number;
  /** Message of the merge commit, by the change's driver. */
  mergeMessage(change: ProposedChange): string;
  /** As the tenant's layout has it for the project, or else as the change's host does it. */
  mergeMode(change: ProposedChange): MergeMode;
  /** `extra-config-paths` of the project. */
  extraPaths(project: ProjectKey): readonly string[];
  /** The branch is one of `always-dynamic-branches` of the project. */
  isAlwaysDynamic(project: ProjectKey, branch: BranchName): boolean;
  /** A config-project of the tenant: its playbooks run as they have landed. */
  isTrusted(project: ProjectKey): boolean;
}

/**
 * @param request the uuid that the item waits for.
 * @param likelyStates heads to be read along with the merge; the freeze asks for missing ones later.
 */
export function mergeRequestFor(
  request: Uuid,
  item: QueueItem,
  likelyStates: readonly ProjectState[],
  context: MergerRequestContext,
): MergeRequest {
  const ahead = chainOf(context.items, item).slice(0, -1);
  const inputs = [...ahead, item].flatMap(proposedOf);
  return {
    kind: 'merge',
    ...commonOf(request, item, context),
    inputs: inputs.map(change => mergeInput(change, context)),
    own: proposedOf(item).length,
    ...(goesPastConflicts(item, ahead) ? { ahead: ahead.map(each => proposedOf(each).length) } : {}),
    states: likelyStates,
    ...extraPathsFor([...inputs, ...item.changes], context),
    ...alwaysReadFor(inputs, context),
    pinned: item.changes.filter(change => change.kind === 'ref').flatMap(change => pinnedOf(change, context)),
  };
}

function extraPathsFor(
  changes: readonly Change[],
  { extraPaths }: MergerRequestContext,
): Pick<MergeRequest, 'extraPaths'> {
  const projects = [...new Set(changes.map(({ project }) => project))];
  const extra = projects
    .map(project => ({ project, paths: extraPaths(project) }))
    .filter(({ paths }) => paths.length > 0);
  return extra.length === 0 ? {} : { extraPaths: extra };
}

function alwaysReadFor(
  inputs: readonly ProposedChange[],
  { isAlwaysDynamic }: MergerRequestContext,
): Pick<MergeRequest, 'alwaysRead'> {
  const dynamic = inputs.filter(({ project, branch }) => isAlwaysDynamic(project, branch));
  const byBranch = new Map(
    dynamic.map(({ project, branch }) => [`${project} ${branch}`, { project, branch }]),
  );
  return byBranch.size === 0 ? {} : { alwaysRead: [...byBranch.values()] };
}

function proposedOf({ changes }: QueueItem): readonly ProposedChange[] {
  return changes.filter(change => change.kind === 'change');
}

/** The answer names the items it leaves out by their places among the items ahead, so these must be known. */
function goesPastConflicts({ buildset: { stage } }: QueueItem, ahead: readonly QueueItem[]): boolean {
  if (stage.state !== 'merging' || stage.ahead?.length !== ahead.length) return false;
  return ahead.every(({ uuid }, place) => stage.ahead?.[place] === uuid);
}

/** Asks for heads that the merge did not bring. @param request the uuid that the item waits for. */
export function repoStateRequestFor(
  request: Uuid,
  item: QueueItem,
  states: readonly ProjectState[],
  context: MergerRequestContext,
): RepoStateRequest {
  return { kind: 'repo-state', ...commonOf(request, item, context), states };
}

function commonOf(request: Uuid, item: QueueItem, context: MergerRequestContext) {
  return {
    uuid: request,
    tenant: item.tenant,
    requestedAt: context.now,
    priority: context.priority,
    item: { pipeline: item.pipeline, item: item.uuid, buildset: item.buildset.uuid, sampled: item.sampled },
  };
}

function mergeInput(change: ProposedChange, context: MergerRequestContext): MergeInput {
  const mode = context.mergeMode(change);
  return {
    change: change.key,
    project: change.project,
    branch: change.branch,
    ref: change.ref,
    commit: change.commit,
    message:
      mode === 'squash-merge' && change.mergeText !== undefined
        ? squashMessage(change.mergeText)
        : context.mergeMessage(change),
    ...(mode === 'merge' ? {} : { mode }),
  };
}

/** A deleted ref has no commit to test: nothing is pinned, its jobs run on the heads of their projects. */
function pinnedOf(change: RefUpdate, { isTrusted }: MergerRequestContext): MergeRequest['pinned'] {
  if (change.newCommit === null) return [];
  const branch = targetBranchOf(change);
  return [
    {
      project: change.project,
      ref: change.ref,
      commit: change.newCommit,
      before: change.oldCommit,
      ...(branch === undefined ? {} : { branch }),
      ...(change.targetBranch !== undefined && isTrusted(change.project) ? { wantsLanded: true } : {}),
    },
  ];
}

/**
 * Actions of people without effect, and why: proposals that cannot be gated, approvals of another commit than the proposed one.
 * Each is reported once, when it is new. Pure.
 */
import type { ObjectId } from '../../src/git/objects/object-id.ts';
import { assertNever } from '../../src/lib/assert-never.ts';
import type { Change, ProposedChange } from '../../src/model/change.ts';
import { type ProjectKey, shortCommit } from '../../src/model/project.ts';
import type { KnownProposal, ProjectMemory } from './project-memory.ts';
import { type ProposalState, proposedChange } from './proposal-states.ts';
import { branchRef, type Proposal, parseChangeId, type RefView, type Templates } from './ref-view.ts';

/** `text` is for the person who pushed. */
export interface IgnoredAction {
  readonly change: Change;
  readonly text: string;
}

/** Actions since the last reading without effect, and why. */
export function refusals(
  project: ProjectKey,
  states: readonly ProposalState[],
  view: RefView,
  before: { readonly memory: ProjectMemory; readonly view: RefView } | undefined,
  templates: Templates,
): readonly IgnoredAction[] {
  return [
    ...[...view.misdirected.values()]
      .filter(({ id, commit }) => before?.view.misdirected.get(id)?.commit !== commit)
      .map(proposal => ({ change: bare(project, proposal), text: `not taken up: ${proposal.reason}` })),
    ...states.flatMap(state =>
      uselessProposal(project, state, before?.memory.proposals.get(state.proposal.id), before?.view),
    ),
    ...[...view.approvals]
      .filter(([id, commit]) => before?.view.approvals.get(id) !== commit && !view.misdirected.has(id))
      .flatMap(([id, commit]) => uselessApproval(project, id, commit, view.proposals.get(id), templates)),
  ];
}

function uselessProposal(
  project: ProjectKey,
  state: ProposalState,
  known: KnownProposal | undefined,
  before: RefView | undefined,
): readonly IgnoredAction[] {
  const { proposal } = state;
  switch (state.kind) {
    case 'refused': {
      const old = before?.proposals.get(proposal.id)?.commit === proposal.commit && known === undefined;
      return old ? [] : [{ change: bare(project, proposal), text: `not taken up: ${state.reason}` }];
    }
    case 'read': {
      const { status, change } = state.record;
      if (status !== 'merged' || known?.commit === proposal.commit) return [];
      return [
        { change, text: `nothing to merge: ${proposal.branch} holds ${shortCommit(change.commit)} already` },
      ];
    }
    default:
      return assertNever(state);
  }
}

function uselessApproval(
  project: ProjectKey,
  id: string,
  commit: ObjectId,
  proposal: Proposal | undefined,
  templates: Templates,
): readonly IgnoredAction[] {
  const name = parseChangeId(id);
  if (name === undefined || proposal?.commit === commit) return [];
  const ref = branchRef(templates.proposals.format(name));
  const change = bare(project, proposal ?? { ...name, id, ref, commit });
  const approval = `${templates.approvals.format(name)} approves ${commit.slice(0, 8)}`;
  const text =
    proposal === undefined
      ? `${approval}, but there is no proposal ${templates.proposals.format(name)}`
      : `${approval}, but the proposal is at ${proposal.commit.slice(0, 8)}: look at that and approve it`;
  return [{ change, text }];
}

/** A change with only its names. */
function bare(project: ProjectKey, proposal: Proposal): ProposedChange {
  return proposedChange(project, proposal, '', '');
}

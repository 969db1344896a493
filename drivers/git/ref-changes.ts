/**
 * What happened to a project between two readings. Pure: the memory and the refs now in, changes out, in an order that makes
 * sense to a reader: moved branches (something merged), then abandoned, proposed and approved changes.
 *
 * The first reading reports proposals and approvals (nothing pushed before the start is lost), and no branch or tag.
 */

import type { HostHappening } from '../../src/driver/host-finding.ts';
import { refUpdate } from '../../src/driver/ref-update.ts';
import type { ObjectId } from '../../src/git/objects/object-id.ts';
import type { RefName } from '../../src/git/objects/ref-name.ts';
import type { Nanoseconds } from '../../src/lib/clock.ts';
import type { ChangeRecord } from '../../src/model/change.ts';
import type { BranchName, ProjectKey } from '../../src/model/project.ts';
import { readFacts } from './facts.ts';
import type { KnownProposal, ProjectMemory } from './project-memory.ts';
import { type ProposalState, proposedChange } from './proposal-states.ts';
import { branchRef, parseChangeId, type RefView, type Templates } from './ref-view.ts';

/** `before` null: created; `after` null: deleted; `branch` absent: a tag. */
export interface RefMove {
  readonly ref: RefName;
  readonly branch?: BranchName;
  readonly before: ObjectId | null;
  readonly after: ObjectId | null;
}

/** Branches and tags that moved, branches first, by name, without proposals and approvals. */
export function movedRefs(before: RefView, after: RefView): readonly RefMove[] {
  const branches = moves(before.branches, after.branches).map(([branch, move]) => ({
    ref: branchRef(branch),
    branch,
    ...move,
  }));
  const tags = moves(before.tags, after.tags).map(([ref, move]) => ({ ref, ...move }));
  return [...branches, ...tags];
}

function moves<Name extends string>(
  before: ReadonlyMap<Name, ObjectId>,
  after: ReadonlyMap<Name, ObjectId>,
): [Name, Pick<RefMove, 'before' | 'after'>][] {
  const names = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  return names
    .map((name): [Name, Pick<RefMove, 'before' | 'after'>] => [
      name,
      { before: before.get(name) ?? null, after: after.get(name) ?? null },
    ])
    .filter(([, move]) => move.before !== move.after);
}

/** A branch or tag that moved, as an event. */
export function movedRef(project: ProjectKey, move: RefMove): HostHappening {
  const { branch, before, after } = move;
  const isBranch = branch !== undefined;
  return {
    type: 'ref-updated',
    change: refUpdate(project, move),
    facts: { deleted: after === null, created: before === null },
    // Does not check whether a configuration file changed: reading one branch again is cheap.
    configMayHaveChanged: isBranch && after !== null ? [branch] : [],
    branchesChanged: isBranch && (before === null || after === null),
  };
}

/** Branches whose proposals must be read again: the tip, a proposal or an approval changed. */
export function affectedBranches(before: RefView, after: RefView): ReadonlySet<BranchName> {
  const affected = new Set(moves(before.branches, after.branches).map(([branch]) => branch));
  const heads = (view: RefView) => new Map([...view.proposals].map(([id, { commit }]) => [id, commit]));
  for (const [id] of [...moves(heads(before), heads(after)), ...moves(before.approvals, after.approvals)]) {
    const branch = parseChangeId(id)?.branch;
    if (branch !== undefined) affected.add(branch);
  }
  return affected;
}

/** A deleted proposal, and whether its target branch holds its commit. */
export interface Departure {
  readonly id: string;
  readonly known: KnownProposal;
  readonly merged: boolean;
}

/** Of what is remembered, since the commit may be gone. @returns undefined for an id that no proposal can have. */
export function departureRecord(
  project: ProjectKey,
  { id, known, merged }: Departure,
  templates: Templates,
  now: Nanoseconds,
): ChangeRecord | undefined {
  const name = parseChangeId(id);
  if (name === undefined) return undefined;
  const ref = branchRef(templates.proposals.format(name));
  return {
    change: proposedChange(project, { ...name, id, ref, commit: known.commit }, known.subject, known.owner),
    status: merged ? 'merged' : 'abandoned',
    dependsOn: [],
    unresolvedDependencies: [],
    facts: { approved: known.approved, 'current-patchset': true },
    fetchedAt: now,
  };
}

/** Events of the existing proposals, in the order of `states`. `updated`: the proposal was known before. */
export function proposalChanges(
  states: readonly ProposalState[],
  before: ProjectMemory | undefined,
): readonly HostHappening[] {
  const proposed: HostHappening[] = [];
  const approved: HostHappening[] = [];
  for (const state of states) {
    if (state.kind !== 'read' || state.record.status !== 'open') continue;
    const { record, proposal } = state;
    const { change } = record;
    const known = before?.proposals.get(proposal.id);
    const same = known?.commit === proposal.commit && known.status === 'open';
    if (!same) proposed.push({ type: 'proposed', change, facts: { updated: known !== undefined } });
    if (readFacts(record.facts).approved && !(same && known.approved))
      approved.push({ type: 'approved', change, facts: {} });
  }
  return [...proposed, ...approved];
}

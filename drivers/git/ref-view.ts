/**
 * What the refs of a project mean. Pure: one listing of refs in, proposals, approvals, branches and tags out.
 *
 *     refs/heads/master              a branch
 *     refs/heads/for/master/login    proposal `master/login`: merge this into master
 *     refs/heads/gate/master/login   approval of the commit it points at, for that proposal
 *     refs/tags/v1                   a tag
 *     refs/notes/gatehouse, refs/pull/1/head, ...   of no interest
 */
import type { ObjectId } from '../../src/git/objects/object-id.ts';
import { isRefName, parseRefName, type RefName } from '../../src/git/objects/ref-name.ts';
import type { BranchName } from '../../src/model/project.ts';
import type { BranchTemplate, ProposalName } from './branch-template.ts';

/** Branches and tags by full name, as listed. */
export type Refs = ReadonlyMap<RefName, ObjectId>;

/** By these a branch is a proposal, an approval, or else an ordinary branch. */
export interface Templates {
  readonly proposals: BranchTemplate;
  readonly approvals: BranchTemplate;
}

/** A proposal branch as listed. */
export interface Proposal extends ProposalName {
  /** `<branch>/<topic>`; the topic is what follows the last slash. */
  readonly id: string;
  readonly ref: RefName;
  readonly commit: ObjectId;
}

/** The refs of a project, sorted by what they mean. */
export interface RefView {
  /** Ordinary branches. */
  readonly branches: ReadonlyMap<BranchName, ObjectId>;
  /** By full ref. */
  readonly tags: Refs;
  /** Proposals for branches that exist, by id. */
  readonly proposals: ReadonlyMap<string, Proposal>;
  /** Proposals for a branch that does not exist, with the reason, by id. */
  readonly misdirected: ReadonlyMap<string, Proposal & { readonly reason: string }>;
  /** The commit each approval branch points at, by id of the proposal. */
  readonly approvals: ReadonlyMap<string, ObjectId>;
}

/** Unique in its project. */
export function changeId({ branch, topic }: ProposalName): string {
  return `${branch}/${topic}`;
}

/** Inverse of {@link changeId}; undefined when `id` cannot be the id of a proposal. */
export function parseChangeId(id: string): ProposalName | undefined {
  const slash = id.lastIndexOf('/');
  if (slash < 1 || !isRefName(`refs/heads/${id}`)) return undefined;
  return { branch: id.slice(0, slash), topic: id.slice(slash + 1) };
}

/** @throws RangeError for a name that git would refuse. */
export function branchRef(branch: BranchName): RefName {
  return parseRefName(`refs/heads/${branch}`);
}

/** @param templates of the connection; with `NO_BRANCHES` all branches are ordinary. */
export function readRefs(refs: Refs, templates: Templates): RefView {
  const branches = new Map<BranchName, ObjectId>();
  const tags = new Map<RefName, ObjectId>();
  const approvals = new Map<string, ObjectId>();
  const found: Proposal[] = [];
  for (const [ref, commit] of refs) {
    if (ref.startsWith('refs/tags/')) tags.set(ref, commit);
    if (!ref.startsWith('refs/heads/')) continue;
    const name = ref.slice('refs/heads/'.length);
    const proposal = templates.proposals.match(name);
    const approval = templates.approvals.match(name);
    if (proposal !== undefined) found.push({ ...proposal, id: changeId(proposal), ref, commit });
    else if (approval !== undefined) approvals.set(changeId(approval), commit);
    else branches.set(name, commit);
  }
  return { branches, tags, approvals, ...directed(found, branches) };
}

function directed(
  found: readonly Proposal[],
  branches: RefView['branches'],
): Pick<RefView, 'proposals' | 'misdirected'> {
  const proposals = new Map<string, Proposal>();
  const misdirected = new Map<string, Proposal & { readonly reason: string }>();
  for (const proposal of found) {
    if (branches.has(proposal.branch)) proposals.set(proposal.id, proposal);
    else
      misdirected.set(proposal.id, {
        ...proposal,
        reason: `there is no branch ${proposal.branch} to merge into`,
      });
  }
  return { proposals, misdirected };
}

/**
 * Reads proposals: their commits are fetched into the mirror the merger uses too, and from commits and messages follow
 * status and dependencies. One listing of commits serves all proposals for a branch.
 */
import type { ObjectId } from '../../src/git/objects/object-id.ts';
import type { RefName } from '../../src/git/objects/ref-name.ts';
import type { Nanoseconds } from '../../src/lib/clock.ts';
import { sha256 } from '../../src/lib/ids.ts';
import { type ChangeKey, type ChangeRecord, changeKey, type ProposedChange } from '../../src/model/change.ts';
import { type BranchName, type ProjectKey, parseCommitId, projectIdOf } from '../../src/model/project.ts';
import { type CommitGraph, type Stacked, stackOf } from './commit-graph.ts';
import { dependsOnLines, namedChange } from './depends-on.ts';
import { mergeTextOf } from './merge-message.ts';
import { branchRef, type Proposal, type RefView } from './ref-view.ts';
import type { Absent, ProjectGit } from './remote-git.ts';

/** A proposal as read; `digest` is that of its record without the time of the reading. */
export type ProposalState = { readonly proposal: Proposal } & (
  | {
      readonly kind: 'read';
      readonly record: ChangeRecord & { readonly change: ProposedChange };
      readonly digest: string;
    }
  /** It cannot be gated; the text says why. */
  | { readonly kind: 'refused'; readonly reason: string }
);

/** One reading of a project, or of a single proposal. */
export interface ReadContext {
  readonly project: ProjectKey;
  readonly git: ProjectGit;
  /** Projects that a `Depends-On` may name; undefined: not known, so any. */
  readonly projects: ReadonlySet<ProjectKey> | undefined;
  readonly now: Nanoseconds;
  /** All proposals, as possible bases of others; default: those that are read. */
  readonly around?: RefView;
  /** Needed commits that are missing because they are too large. */
  readonly absent: readonly Absent[];
}

/** Commits a proposal may have beyond its branch. More means a wrong branch or an unrelated history, and unbounded work. */
const MOST_COMMITS = 2_000;
/** Commits all proposals for one branch may have before they are read one by one. */
const MOST_TOGETHER = 20_000;
/** Own commits of a proposal whose messages are read for `Depends-On`. */
const MOST_MESSAGES = 100;

/** Commits that {@link readProposals} needs for these branches. */
export function neededCommits(
  view: RefView,
  branches: ReadonlySet<BranchName>,
): { readonly ref: RefName; readonly commit: ObjectId }[] {
  const tips = [...branches].flatMap(branch => {
    const commit = view.branches.get(branch);
    return commit === undefined ? [] : [{ ref: branchRef(branch), commit }];
  });
  return [...tips, ...proposalsFor(view, branches).map(({ ref, commit }) => ({ ref, commit }))];
}

/** All proposals for the given branches, those others build on first. */
export async function readProposals(
  view: RefView,
  branches: ReadonlySet<BranchName>,
  context: ReadContext,
): Promise<readonly ProposalState[]> {
  const states: ProposalState[] = [];
  const absent = new Map(context.absent.map(({ commit, text }) => [commit, text]));
  for (const branch of branches) {
    const tip = view.branches.get(branch);
    if (tip === undefined) continue;
    const proposals: Proposal[] = [];
    for (const proposal of proposalsFor(view, new Set([branch]))) {
      const reason = unreadable(proposal, tip, absent);
      if (reason === undefined) proposals.push(proposal);
      else states.push({ kind: 'refused', proposal, reason });
    }
    if (proposals.length === 0) continue;
    const graphs = await graphsOf(tip, proposals, context.git);
    const siblings = siblingsOf(branch, view, context);
    const heads = new Set(
      siblings
        .filter(({ id }) => !graphs.has(id) || graphs.get(id) !== undefined)
        .map(({ commit }) => commit),
    );
    const byHead = Map.groupBy(siblings, ({ commit }) => commit);
    for (const proposal of proposals) {
      const graph = graphs.get(proposal.id);
      if (graph === undefined) states.push({ kind: 'refused', proposal, reason: tooLarge(branch) });
      else
        states.push(
          await readOne(proposal, stackOf(proposal.commit, heads, graph), { view, byHead }, context),
        );
    }
  }
  return dependenciesFirst(states);
}

function proposalsFor(view: RefView, branches: ReadonlySet<BranchName>): Proposal[] {
  return [...view.proposals.values()].filter(({ branch }) => branches.has(branch));
}

function siblingsOf(branch: BranchName, view: RefView, { around = view }: ReadContext): Proposal[] {
  return proposalsFor(around, new Set([branch]));
}

function unreadable(
  { branch, commit }: Proposal,
  tip: ObjectId,
  absent: ReadonlyMap<ObjectId, string>,
): string | undefined {
  const [own, base] = [absent.get(commit), absent.get(tip)];
  if (own !== undefined) return `its commit is ${own}`;
  return base === undefined ? undefined : `the tip of ${branch} is ${base}`;
}

function tooLarge(branch: BranchName): string {
  return `it brings more than ${MOST_COMMITS} commits that ${branch} does not have; is it made for another branch?`;
}

/** By id; undefined for a proposal with too many commits, which must not affect the others. */
async function graphsOf(
  tip: ObjectId,
  proposals: readonly Proposal[],
  git: ProjectGit,
): Promise<ReadonlyMap<string, CommitGraph | undefined>> {
  const heads = proposals.map(({ commit }) => commit);
  const together = await git.beyond(tip, heads, Math.min(MOST_TOGETHER, MOST_COMMITS * heads.length));
  const graphs = new Map<string, CommitGraph | undefined>();
  // If all together are few enough, each is.
  const isSmall = together !== undefined && together.size <= MOST_COMMITS;
  for (const { id, commit } of proposals) {
    // Asked one by one, thousands of proposals would cost as many copies of a graph of thousands.
    if (together === undefined) graphs.set(id, await git.beyond(tip, [commit], MOST_COMMITS));
    else graphs.set(id, isSmall || bringsFew(together, commit) ? together : undefined);
  }
  return graphs;
}

/** At most `MOST_COMMITS` of the graph's commits are reachable from it. */
function bringsFew(graph: CommitGraph, commit: ObjectId): boolean {
  const found = new Set<ObjectId>();
  const open = [commit];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const parents = found.has(at) ? undefined : graph.get(at);
    if (parents === undefined) continue;
    found.add(at);
    if (found.size > MOST_COMMITS) return false;
    open.push(...parents);
  }
  return true;
}

/** All that is the same for the proposals of one branch. */
interface Around {
  readonly view: RefView;
  /** Open proposals by their commits; those of one commit in the order of the listing. */
  readonly byHead: ReadonlyMap<ObjectId, readonly Proposal[]>;
}

async function readOne(
  proposal: Proposal,
  stack: Stacked | undefined,
  around: Around,
  context: ReadContext,
): Promise<ProposalState> {
  const { subject, author, message } = await context.git.text(proposal.commit);
  const change = {
    ...proposedChange(context.project, proposal, subject, author),
    ...(message === '' ? {} : { mergeText: mergeTextOf(message) }),
  };
  const state = {
    change,
    status: stack === undefined ? ('merged' as const) : ('open' as const),
    ...(await dependenciesOf(change, stack ?? { own: [], on: [] }, around, context)),
    facts: { approved: around.view.approvals.get(proposal.id) === proposal.commit, 'current-patchset': true },
  };
  const digest = sha256(JSON.stringify(state)).slice(0, 16);
  return { kind: 'read', proposal, record: { ...state, fetchedAt: context.now }, digest };
}

/** @param subject, owner empty where the commit was not read. */
export function proposedChange(
  project: ProjectKey,
  { id, branch, ref, commit }: Proposal,
  subject: string,
  owner: string,
): ProposedChange {
  return {
    kind: 'change',
    key: changeKey(project, id),
    project,
    branch,
    id,
    patchset: commit,
    commit: parseCommitId(commit),
    ref,
    subject,
    ...(owner === '' ? {} : { owner }),
  };
}

async function dependenciesOf(
  change: ProposedChange,
  { own, on }: Stacked,
  { byHead }: Around,
  context: ReadContext,
): Promise<Pick<ChangeRecord, 'dependsOn' | 'unresolvedDependencies'>> {
  const { project, git, projects } = context;
  const below = on.flatMap(head => byHead.get(head) ?? []);
  const keys: ChangeKey[] = below.map(({ id }) => changeKey(project, id));
  const unresolved: string[] = [];
  for (const commit of own.slice(0, MOST_MESSAGES)) {
    for (const line of dependsOnLines((await git.text(commit)).message)) {
      const key = namedChange(line, projectIdOf(project).connection, projects);
      if (key === undefined) unresolved.push(line);
      else keys.push(key);
    }
  }
  return {
    dependsOn: [...new Set(keys)].filter(key => key !== change.key),
    unresolvedDependencies: [...new Set(unresolved)],
  };
}

/** Stable otherwise; a cycle of `Depends-On` is cut where it is entered. */
function dependenciesFirst(states: readonly ProposalState[]): readonly ProposalState[] {
  const byKey = new Map<string, ProposalState>();
  for (const state of states) if (state.kind === 'read') byKey.set(state.record.change.key, state);
  const ordered = new Set<ProposalState>();
  const entered = new Set<ProposalState>();
  // An explicit stack: a chain of proposals may be longer than the call stack.
  for (const start of states) {
    const open = [start];
    for (let state = open.at(-1); state !== undefined; state = open.at(-1)) {
      const below = entered.has(state) || state.kind !== 'read' ? [] : state.record.dependsOn;
      entered.add(state);
      const waiting = below.flatMap(key => byKey.get(key) ?? []).filter(each => !entered.has(each));
      if (waiting.length > 0) open.push(...waiting.toReversed());
      else {
        open.pop();
        ordered.add(state);
      }
    }
  }
  return [...ordered];
}

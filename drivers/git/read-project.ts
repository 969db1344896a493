/**
 * Reads a project: one listing of its refs, one fetch of the commits its proposals need, and the state of the proposals. When a
 * proposal moves between listing and fetch, the reading starts again, so that it is consistent.
 */
import type { ObjectId } from '../../src/git/objects/object-id.ts';
import type { Clock, Nanoseconds } from '../../src/lib/clock.ts';
import type { BranchName, ProjectKey } from '../../src/model/project.ts';
import { nextRefs, watchedRefs } from './next-refs.ts';
import { type ProjectMemory, refsDigest } from './project-memory.ts';
import { proposalHasLanded } from './proposal-has-landed.ts';
import { neededCommits, type ProposalState, readProposals } from './proposal-states.ts';
import { affectedBranches, type Departure, movedRefs, type RefMove } from './ref-changes.ts';
import { parseChangeId, type Refs, type RefView, readRefs, type Templates } from './ref-view.ts';
import { HostFailed, type ProjectGit } from './remote-git.ts';

/** Of one event. The signal is checked before each try. */
export interface ReadingContext {
  readonly projects: ReadonlySet<ProjectKey>;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly templates: Templates;
}

/** One consistent reading: refs, and the proposals and commits they point at. */
export interface Reading {
  readonly now: Nanoseconds;
  /** The refs to remember after this reading; not all of them when many changed. */
  readonly refs: Refs;
  /** The refs as listed. */
  readonly listed: Refs;
  readonly view: RefView;
  /** The refs of the last reading; undefined: this is the first. */
  readonly old: RefView | undefined;
  readonly affected: ReadonlySet<BranchName>;
  readonly states: readonly ProposalState[];
  readonly departures: readonly Departure[];
  readonly moves: readonly RefMove[];
}

const EMPTY: Refs = new Map();
/** A proposal that moves faster than it can be fetched waits for the next event. */
const TRIES = 3;

/** @returns undefined when the refs are those remembered. @throws HostFailed */
export async function readProject(
  project: ProjectKey,
  before: ProjectMemory | undefined,
  git: ProjectGit,
  context: ReadingContext,
): Promise<Reading | undefined> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    context.signal.throwIfAborted();
    const listed = watchedRefs(await git.refs());
    if (listed === undefined)
      throw new HostFailed(project, {
        message: 'it has more branches than can be watched',
        retryable: false,
      });
    if (before !== undefined && refsDigest(before.refs) === refsDigest(listed)) return undefined;
    const refs = nextRefs(before?.refs, listed, context.templates);
    const view = readRefs(refs, context.templates);
    const old = before === undefined ? undefined : readRefs(before.refs, context.templates);
    const affected = affectedBranches(old ?? readRefs(EMPTY, context.templates), view);
    const needed = branchesToRead(view, affected, before);
    const absent = await git.bring(neededCommits(view, needed));
    if (absent.some(({ reason }) => reason === 'moved')) continue;
    const now = context.clock.now();
    // Proposals that are taken in later count already as a base of others.
    const around = refs === listed ? view : readRefs(listed, context.templates);
    const states = await readProposals(view, needed, {
      project,
      git,
      projects: context.projects,
      now,
      around,
      absent,
    });
    const departures = await departed(states, { view, old }, affected, before, git);
    const moves = old === undefined ? [] : await peeled(movedRefs(old, view), git);
    return { now, refs, listed, view, old, affected, states, departures, moves };
  }
  throw new HostFailed(project, {
    message: `its proposals moved ${TRIES} times while they were fetched`,
    retryable: true,
  });
}

/** A branch without proposals costs no fetch when it moves. */
function branchesToRead(
  view: RefView,
  affected: ReadonlySet<BranchName>,
  before: ProjectMemory | undefined,
): ReadonlySet<BranchName> {
  const proposed = new Set([...view.proposals.values()].map(({ branch }) => branch));
  for (const id of before?.proposals.keys() ?? []) proposed.add(parseChangeId(id)?.branch ?? '');
  return new Set([...affected].filter(branch => proposed.has(branch) && view.branches.has(branch)));
}

async function departed(
  states: readonly ProposalState[],
  { view, old }: Pick<Reading, 'view' | 'old'>,
  affected: ReadonlySet<BranchName>,
  before: ProjectMemory | undefined,
  git: ProjectGit,
): Promise<readonly Departure[]> {
  const present = new Set(states.flatMap(state => (state.kind === 'read' ? [state.proposal.id] : [])));
  const gone: Departure[] = [];
  for (const [id, known] of before?.proposals ?? []) {
    const branch = parseChangeId(id)?.branch;
    if (branch === undefined || present.has(id) || !affected.has(branch)) continue;
    const tip = view.branches.get(branch);
    const merged =
      tip !== undefined &&
      (await proposalHasLanded(known.commit, { before: old?.branches.get(branch), tip }, git));
    gone.push({ id, known, merged });
  }
  return gone;
}

/** An annotated tag is reported as the commit it marks; for that it is fetched. */
async function peeled(moves: readonly RefMove[], git: ProjectGit): Promise<readonly RefMove[]> {
  const tags = moves.filter(({ branch }) => branch === undefined);
  const fresh = tags.filter(({ after }) => after !== null);
  if (fresh.length > 0) await git.bringRefs(fresh.map(({ ref }) => ref));
  const commits = await git.peel(
    tags.flatMap(({ before, after }) => [before, after]).filter(id => id !== null),
  );
  const commitOf = (id: ObjectId | null) => (id === null ? null : (commits.get(id) ?? id));
  return moves.map(move =>
    move.branch === undefined
      ? { ...move, before: commitOf(move.before), after: commitOf(move.after) }
      : move,
  );
}

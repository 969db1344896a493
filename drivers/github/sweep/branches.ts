/**
 * Branches that moved, came or went since the sweep before and whose webhook was not processed.
 *
 *     up to a hundred     the listing of the sweep holds all of them
 *     more                git lists them, of a few such repositories in each pass by turns: pages of the API would be of several
 *                         moments, and show a branch twice or not at all
 *
 * Only whole lists are compared. What is found and the driver's memory holds already costs nothing more, so the API is not asked about
 * branches while webhooks arrive (doc/decisions/0090).
 */
import type { Watch } from '../../../src/driver/intake.ts';
import { createLru, type Lru } from '../../../src/git/support/lru.ts';
import { isInternalBranch } from '../internal-branches.ts';
import { nodesOf } from '../reading/query/pull-state.ts';
import { openRefTips } from '../reading/ref-tips.ts';
import { BRANCHES_AT_ONCE, type ListedRepository } from './listing-query.ts';

/** All branches of a repository at one moment, with their tips. */
export type Branches = ReadonlyMap<string, string>;

/** Lists them with git. @param repository `owner/name`. @returns undefined: the host does not serve now. */
export type BranchLister = (repository: string) => Promise<Branches | undefined>;

/** A branch that is elsewhere. Null: it was not there, or is gone. */
export interface BranchDifference {
  readonly branch: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** Repositories that git lists in one pass. */
const MOST_LISTED = 5;
/** Branches of a repository: one with more is not compared. */
const MOST_BRANCHES = 20_000;
/** Branches of all repositories that are kept from pass to pass, some 30 MB; a repository that gives way is compared one pass later. */
const MOST_KEPT = 200_000;
/** Events of one repository in one pass; the others are found by the next. */
const MOST_FOUND = 100;

/** Of one connection. */
export interface BranchSweep {
  /** @param emit gets each branch that is not where the memory has it. */
  compare(repository: string, listed: ListedRepository, watch: BranchWatch): Promise<void>;
  /** Lists what {@link compare} could not see as a whole, by turns. */
  listOthers(watch: BranchWatch): Promise<void>;
}

/** What the comparison works with. */
export interface BranchWatch extends Pick<Watch, 'memory' | 'signal'> {
  readonly found: (repository: string, difference: BranchDifference) => Promise<void>;
}

/** Knows nothing at first: the first list of a repository is what later ones are compared with. */
export function createBranchSweep(list: BranchLister): BranchSweep {
  const kept: Lru<string, Branches> = createLru(MOST_KEPT, branches => branches.size + 1);
  /** Repositories that wait for git's list; the first waits longest. */
  const others = new Set<string>();

  async function look(repository: string, now: Branches, watch: BranchWatch): Promise<void> {
    const before = kept.get(repository);
    const differences = before === undefined ? [] : branchDifferences(now, before);
    const { due, rest } = await unknownOf(repository, differences, watch);
    for (const difference of due) await watch.found(repository, difference);
    kept.set(repository, withoutRest(now, rest));
  }

  return {
    async compare(repository, { refs }, watch) {
      const nodes = nodesOf(refs);
      if (refs === null) return;
      if (nodes.length >= BRANCHES_AT_ONCE) {
        others.add(repository);
        return;
      }
      others.delete(repository);
      const tips = nodes.flatMap(({ name, target }) =>
        target === null ? [] : [[name, target.oid] as const],
      );
      await look(repository, ownBranches(tips), watch);
    },
    async listOthers(watch) {
      for (const repository of [...others].slice(0, MOST_LISTED)) {
        watch.signal.throwIfAborted();
        others.delete(repository);
        const listed = await list(repository);
        // One host for all of them: the others keep their turn.
        if (listed === undefined) return;
        if (listed.size <= MOST_BRANCHES) await look(repository, ownBranches(listed), watch);
      }
    },
  };
}

/** Those of people. */
function ownBranches(tips: Iterable<readonly [string, string]>): Branches {
  return new Map([...tips].filter(([branch]) => !isInternalBranch(branch)));
}

/** Pure. */
export function branchDifferences(now: Branches, before: Branches): readonly BranchDifference[] {
  const moved = [...now].flatMap(([branch, after]) => {
    const known = before.get(branch) ?? null;
    return known === after ? [] : [{ branch, before: known, after }];
  });
  const gone = [...before].flatMap(([branch, tip]) =>
    now.has(branch) ? [] : [{ branch, before: tip, after: null }],
  );
  return [...moved, ...gone];
}

/** Without those that an event has reported. */
async function unknownOf(
  repository: string,
  differences: readonly BranchDifference[],
  { memory }: BranchWatch,
): Promise<{ readonly due: readonly BranchDifference[]; readonly rest: readonly BranchDifference[] }> {
  const tips = openRefTips(memory, repository);
  const unknown: BranchDifference[] = [];
  for (const difference of differences) {
    const tip = await tips.get(`refs/heads/${difference.branch}`);
    if (tip === undefined || tip.object !== difference.after) unknown.push(difference);
  }
  return { due: unknown.slice(0, MOST_FOUND), rest: unknown.slice(MOST_FOUND) };
}

/** What is left for the next pass is kept as it was. */
function withoutRest(now: Branches, rest: readonly BranchDifference[]): Branches {
  if (rest.length === 0) return now;
  const branches = new Map(now);
  for (const { branch, before } of rest) {
    if (before === null) branches.delete(branch);
    else branches.set(branch, before);
  }
  return branches;
}

/**
 * "Did you mean": the known name nearest to one that was mistyped.
 *
 * Distance counts insertions, deletions, replacements and swaps of neighbours (so `prot` is one step from `port`). A name
 * further away than a quarter of its length is not suggested: a wrong hint is worse than none.
 *
 * Both the mistakes and the names may come from strangers, so the search is bounded. Names of a different length are skipped, names
 * are compared only near the diagonal and only until they are too far apart, and a {@link HintBudget} that many searches share
 * ends the rest of them without a hint.
 */

/** Remaining steps: one for each name, one for each compared pair of characters. */
export interface HintBudget {
  left: number;
}

/** About 20 ms: hints for the first thousands of ordinary mistakes. */
const SHARED_STEPS = 4_000_000;
/** Steps of one search without a shared budget. */
const SINGLE_STEPS = 400_000;
/** Longer names are not suggested. */
const MAX_COMPARED = 100;

/** For all searches of one layout or one file. */
export function hintBudget(): HintBudget {
  return { left: SHARED_STEPS };
}

/** @returns the first of the nearest names, regardless of case; undefined when none is near, or the budget is used up. */
export function nearestName(
  given: string,
  known: Iterable<string>,
  budget: HintBudget = { left: SINGLE_STEPS },
): string | undefined {
  if (given.length > MAX_COMPARED) return undefined;
  const wanted = given.toLowerCase();
  let limit = Math.max(1, Math.floor(wanted.length / 4));
  let best: string | undefined;
  for (const name of known) {
    if (--budget.left <= 0) return best;
    if (Math.abs(name.length - wanted.length) > limit) continue;
    const distance = boundedDistance(wanted, name.toLowerCase(), limit, budget);
    if (distance === undefined) continue;
    best = name;
    if (distance === 0) return best;
    // Of two equally near names the first one counts.
    limit = distance - 1;
  }
  return best;
}

/** `, did you mean "port"?`, or the empty string when nothing is near. */
export function didYouMean(given: string, known: Iterable<string>, budget?: HintBudget): string {
  const name = nearestName(given, known, budget);
  return name === undefined ? '' : `, did you mean "${name}"?`;
}

/** Undefined: more than `limit`, or the budget is used up. */
function boundedDistance(a: string, b: string, limit: number, budget: HintBudget): number | undefined {
  if (a === b) return 0;
  let beforeLast = new Array<number>(b.length + 1).fill(FAR);
  let last = beforeLast.map((_, column) => column);
  let current = [...beforeLast];
  let lastSmallest = 0;
  for (let row = 1; row <= a.length; row++) {
    const from = Math.max(1, row - limit);
    const to = Math.min(b.length, row + limit);
    budget.left -= to - from + 1;
    if (budget.left <= 0) return undefined;
    current[from - 1] = from === 1 ? row : FAR;
    let smallest = at(current, from - 1);
    for (let column = from; column <= to; column++) {
      const replaced = at(last, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1);
      let distance = Math.min(at(last, column) + 1, at(current, column - 1) + 1, replaced);
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) distance = Math.min(distance, at(beforeLast, column - 2) + 1);
      current[column] = distance;
      smallest = Math.min(smallest, distance);
    }
    current[to + 1] = FAR;
    // A swap reaches back over one row.
    if (smallest > limit && lastSmallest > limit) return undefined;
    lastSmallest = smallest;
    [beforeLast, last, current] = [last, current, beforeLast];
  }
  const distance = at(last, b.length);
  return distance <= limit ? distance : undefined;
}

const FAR = Number.POSITIVE_INFINITY;

function at(row: readonly number[], column: number): number {
  return row[column] ?? FAR;
}

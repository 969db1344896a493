/**
 * "Did you mean": the known name nearest to one that was mistyped.
 *
 * Distance counts insertions, deletions, replacements and swaps of neighbours (so `prot` is one step from `port`). A name
 * further away than a quarter of its length is no suggestion: a wrong hint is worse than none.
 */
export function nearestName(given: string, known: Iterable<string>): string | undefined {
  const wanted = given.toLowerCase();
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const name of known) {
    const distance = editDistance(wanted, name.toLowerCase());
    if (best === undefined || distance < best.distance) best = { name, distance };
  }
  const limit = Math.max(1, Math.floor(given.length / 4));
  return best !== undefined && best.distance <= limit ? best.name : undefined;
}

/** `, did you mean "port"?`, or the empty string when nothing is near. */
export function didYouMean(given: string, known: Iterable<string>): string {
  const name = nearestName(given, known);
  return name === undefined ? '' : `, did you mean "${name}"?`;
}

/** Names longer than this are cut: hostile input must not cost quadratic time. */
const MAX_COMPARED = 100;

function editDistance(left: string, right: string): number {
  const a = left.slice(0, MAX_COMPARED);
  const b = right.slice(0, MAX_COMPARED);
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = at(last, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1);
      let distance = Math.min(at(last, column) + 1, at(current, column - 1) + 1, replaced);
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) distance = Math.min(distance, at(beforeLast, column - 2) + 1);
      current.push(distance);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}

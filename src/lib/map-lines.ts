/**
 * Which line of one text is which of another, as a diff would say it: lines before and after all differences, then those that occur once in
 * both, in their order, and what is alike beside them. Takes time in proportion to the lines, for any texts: what would take longer is not found.
 *
 *     a b c d   and   x a b d   →   1→2, 2→3, 4→4; 3 has none
 */

/** How often all lines are looked at, on average. Texts that people write take three or four. */
const MOST_LOOKS = 8;

/** @returns by line of `from`, from 1; lines that `to` does not have are absent. */
export function mapLines(from: readonly string[], to: readonly string[]): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  const open: Part[] = [{ from: 0, fromEnd: from.length, to: 0, toEnd: to.length }];
  let left = MOST_LOOKS * (from.length + to.length);
  for (let part = open.pop(); part !== undefined && left > 0; part = open.pop()) {
    left -= part.fromEnd - part.from + part.toEnd - part.to;
    const middle = withoutCommonEnds(part, from, to, found);
    if (middle.from === middle.fromEnd || middle.to === middle.toEnd) continue;
    const anchors = anchorsIn(middle, from, to);
    if (anchors.length > 0) open.push(...between(middle, anchors));
  }
  return found;
}

/** Zero-based, ends exclusive. */
interface Part {
  readonly from: number;
  readonly fromEnd: number;
  readonly to: number;
  readonly toEnd: number;
}

function withoutCommonEnds(
  part: Part,
  from: readonly string[],
  to: readonly string[],
  found: Map<number, number>,
): Part {
  let { from: a, to: b, fromEnd, toEnd } = part;
  for (; a < fromEnd && b < toEnd && from[a] === to[b]; a += 1, b += 1) found.set(a + 1, b + 1);
  for (; a < fromEnd && b < toEnd && from[fromEnd - 1] === to[toEnd - 1]; fromEnd -= 1, toEnd -= 1)
    found.set(fromEnd, toEnd);
  return { from: a, fromEnd, to: b, toEnd };
}

type Anchor = readonly [from: number, to: number];

/** Lines that are unique in both, the longest run of them in ascending order. */
function anchorsIn(part: Part, from: readonly string[], to: readonly string[]): readonly Anchor[] {
  const places = uniquePlaces(to, part.to, part.toEnd);
  const unique = uniquePlaces(from, part.from, part.fromEnd);
  const pairs = [...unique].flatMap(([line, at]): Anchor[] => {
    const there = at === undefined ? undefined : places.get(line);
    return at === undefined || there === undefined ? [] : [[at, there]];
  });
  return longestAscending(pairs);
}

/** Undefined: it occurs more than once. */
function uniquePlaces(
  lines: readonly string[],
  begin: number,
  end: number,
): ReadonlyMap<string, number | undefined> {
  const places = new Map<string, number | undefined>();
  for (let at = begin; at < end; at += 1) {
    const line = lines[at] ?? '';
    places.set(line, places.has(line) ? undefined : at);
  }
  return places;
}

/** @param pairs ascending in their first member. */
function longestAscending(pairs: readonly Anchor[]): readonly Anchor[] {
  /** By length of the run, the pair with the least second member that ends one. */
  const ends: number[] = [];
  const before: (number | undefined)[] = [];
  for (const [index, [, to]] of pairs.entries()) {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[ends[middle] ?? 0]?.[1] ?? 0) < to) low = middle + 1;
      else high = middle;
    }
    before[index] = low === 0 ? undefined : ends[low - 1];
    ends[low] = index;
  }
  const run: Anchor[] = [];
  for (let at = ends.at(-1); at !== undefined; at = before[at]) {
    const pair = pairs[at];
    if (pair !== undefined) run.push(pair);
  }
  return run.reverse();
}

/** Each begins with an anchor, but for the first. */
function between(part: Part, anchors: readonly Anchor[]): readonly Part[] {
  const begins: readonly Anchor[] = [[part.from, part.to], ...anchors];
  return begins.map(([from, to], index) => {
    const [fromEnd, toEnd] = begins[index + 1] ?? [part.fromEnd, part.toEnd];
    return { from, fromEnd, to, toEnd };
  });
}

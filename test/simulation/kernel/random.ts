/**
 * Chance that repeats: one stream per concern and seed, so that one more fault does not shift what the workload does.
 *
 *     const random = stream(7, 'faults');
 *     random.chance(0.1); random.range(50, 300); random.pick(['a', 'b']);
 */
export interface Random {
  /** In [0, 1). */
  next(): number;
  /** In [0, below), whole. */
  int(below: number): number;
  /** In [from, to). */
  range(from: number, to: number): number;
  chance(probability: number): boolean;
  pick<T>(choices: readonly T[]): T;
}

export function stream(seed: number, concern: string): Random {
  let [a, b, c, d] = [seed | 0, textHash(concern), 0x9e3779b9, 1];
  /** sfc32. */
  const step = (): number => {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return (t >>> 0) / 4_294_967_296;
  };
  for (let round = 0; round < 12; round += 1) step();
  const random: Random = {
    next: step,
    int: below => Math.floor(step() * below),
    range: (from, to) => from + step() * (to - from),
    chance: probability => step() < probability,
    pick(choices) {
      const chosen = choices[Math.floor(step() * choices.length)];
      if (chosen === undefined) throw new RangeError('nothing to pick from');
      return chosen;
    },
  };
  return random;
}

/** FNV-1a, 32 bits. */
export function textHash(text: string, start = 0x811c9dc5): number {
  let hash = start;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash | 0;
}

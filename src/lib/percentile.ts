/** The smallest value that at least that share of all does not exceed; null: there is none. @param sorted ascending. @param share 0 to 1. */
export function percentile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;
}

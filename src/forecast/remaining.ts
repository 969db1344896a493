/** What is left of a duration of which `passed` ms are over. Beyond all samples it is a guess: up to half as long again. */
export function remaining(samples: readonly number[], passed: number, chance: number, noise: number): number {
  const longer = samples.filter(sample => sample * noise > passed);
  if (longer.length === 0) return Math.max(0, passed) * chance * 0.5;
  return pick(longer, chance) * noise - passed;
}

/** @param chance at least 0, less than 1. @returns 0 where there is no sample. */
export function pick(samples: readonly number[], chance: number): number {
  return samples[Math.floor(chance * samples.length)] ?? 0;
}

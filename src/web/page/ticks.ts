const STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 10e3, 15e3, 30e3, 60e3, 120e3, 300e3, 600e3, 900e3,
  1800e3, 3600e3, 7200e3, 14400e3, 43200e3, 86400e3,
];

/** Round times between 0 and `end` milliseconds, at most about `most`. */
export function ticksFor(end: number, most = 6): readonly number[] {
  const step = STEPS.find(candidate => end / candidate <= most) ?? Math.ceil(end / most);
  const ticks: number[] = [];
  for (let tick = step; tick < end * 0.98; tick += step) ticks.push(tick);
  return ticks;
}

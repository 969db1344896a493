/** How busy the machine is, for tests that must bound a time by the clock. */
import { availableParallelism, loadavg } from 'node:os';

/** How many times longer than alone a process may take now to get done what it has to do: at least 1. */
export function slowness(): number {
  const [lastMinute = 0] = loadavg();
  return Math.max(1, lastMinute / availableParallelism());
}

/** What the machine says of itself; a few reads of /proc and /sys, which wait for no disk. */
import { readFileSync } from 'node:fs';
import { availableParallelism, freemem, loadavg, totalmem } from 'node:os';
import type { SensorReadings } from './judge-intake.ts';

const CGROUP = '/sys/fs/cgroup';
/** Milliseconds. The kernel averages the load every five seconds, and a machine full of short builds asks at each of their ends. */
const FRESH = 250;

/** The part that does not depend on builds. */
export type MachineReadings = Pick<SensorReadings, 'load' | 'processors' | 'availableMemory'>;

/**
 * What was read at most a quarter of a second ago is not read again: it takes ten files.
 *
 * @param now milliseconds of a clock that never goes back.
 */
export function createMachineReader(
  read: () => MachineReadings = readMachine,
  now: () => number = () => performance.now(),
): () => MachineReadings {
  let last: { readonly at: number; readonly readings: MachineReadings } | undefined;
  return () => {
    const at = now();
    if (last === undefined || at - last.at >= FRESH) last = { at, readings: read() };
    return last.readings;
  };
}

function readMachine(): MachineReadings {
  const [load = 0] = loadavg();
  // On Linux this is what is available, caches that can be given up included.
  const ofMachine = (freemem() / totalmem()) * 100;
  return {
    load,
    processors: availableParallelism(),
    availableMemory: Math.min(ofMachine, availableInCgroup(readOrNot)),
  };
}

/**
 * Percent of the limit of the service's control group, of version 2 or 1; 100 without one. Caches do not count as used.
 *
 * @param read text of a file below the hierarchy; undefined: there is none.
 */
export function availableInCgroup(read: (name: string) => string | undefined): number {
  const limit = Number(read('memory.max') ?? read('memory/memory.limit_in_bytes') ?? Number.NaN);
  const stat = read('memory.stat') ?? read('memory/memory.stat') ?? '';
  const used = Number(/^(?:anon|total_rss) (\d+)$/m.exec(stat)?.[1] ?? Number.NaN);
  // `max`, a limit beyond what there is, or a system without either.
  if (!(limit > 0) || limit > totalmem() || Number.isNaN(used)) return 100;
  return Math.max(0, 100 - (used / limit) * 100);
}

function readOrNot(name: string): string | undefined {
  try {
    return readFileSync(`${CGROUP}/${name}`, 'utf8').trim();
  } catch {
    return undefined;
  }
}

/**
 * Whether an executor takes builds, by what its machine can bear: pure. Sensors and limits are called as Zuul's. What was shut opens a
 * little below its limit, so that it does not open and shut with every build.
 *
 *     load 11.2 on 4 processors, load_multiplier 2.5   →   shut by `load`, until the load is at most 9
 */

/** What may shut the intake. */
export type Sensor = 'load' | 'memory' | 'starting-builds' | 'waiting-logs';

/** From `[executor]`; null: that sensor shuts nothing. */
export interface IntakeLimits {
  /** Times the number of processors: the load average of a minute up to which builds are taken. */
  readonly loadMultiplier: number | null;
  /** Percent. */
  readonly minAvailMem: number | null;
  /** Builds that prepare, less those that run. */
  readonly maxStartingBuilds: number | null;
  /** Bytes of logs that wait for the bucket. */
  readonly mostWaitingLogs: number | null;
}

/** What a moment of the machine is like. */
export interface SensorReadings {
  /** Average of a minute. */
  readonly load: number;
  readonly processors: number;
  /** Percent: of the machine, or of the control group where that has less. */
  readonly availableMemory: number;
  /** Builds taken whose first playbook has not begun. */
  readonly starting: number;
  /** All that work. */
  readonly running: number;
  /** Bytes. */
  readonly waitingLogs: number;
}

/** Open, or shut by a sensor. `text` is for people. */
export type Intake =
  | { readonly kind: 'open' }
  | { readonly kind: 'shut'; readonly sensor: Sensor; readonly text: string };

/** Part of the limit at which the load opens again. */
const LOAD_OPENS = 0.9;
/** Likewise of memory. */
const MEMORY_OPENS = 1.2;

/** @param before as it was judged the last time. */
export function judgeIntake(limits: IntakeLimits, readings: SensorReadings, before: Intake): Intake {
  const wasShutBy = before.kind === 'shut' ? before.sensor : undefined;
  return (
    judgeLoad(limits, readings, wasShutBy === 'load') ??
    judgeMemory(limits, readings, wasShutBy === 'memory') ??
    judgeWaitingLogs(limits, readings) ??
    judgeStarting(limits, readings) ?? { kind: 'open' }
  );
}

function judgeLoad(
  { loadMultiplier }: IntakeLimits,
  { load, processors }: SensorReadings,
  wasShut: boolean,
): Intake | undefined {
  if (loadMultiplier === null) return undefined;
  const most = processors * loadMultiplier * (wasShut ? LOAD_OPENS : 1);
  if (load <= most) return undefined;
  const text = `the load is ${load.toFixed(1)}, and builds are taken up to ${most.toFixed(1)}`;
  return { kind: 'shut', sensor: 'load', text };
}

function judgeMemory(
  { minAvailMem }: IntakeLimits,
  { availableMemory }: SensorReadings,
  wasShut: boolean,
): Intake | undefined {
  if (minAvailMem === null) return undefined;
  const least = Math.min(100, minAvailMem * (wasShut ? MEMORY_OPENS : 1));
  if (availableMemory >= least) return undefined;
  const text = `${availableMemory.toFixed(1)} % of the memory is available, and builds are taken from ${least.toFixed(1)} % on`;
  return { kind: 'shut', sensor: 'memory', text };
}

/** They are kept as long as there is room; builds would fill it up. */
function judgeWaitingLogs(
  { mostWaitingLogs }: IntakeLimits,
  { waitingLogs }: SensorReadings,
): Intake | undefined {
  if (mostWaitingLogs === null || waitingLogs <= mostWaitingLogs) return undefined;
  const [waiting, most] = [waitingLogs, mostWaitingLogs].map(bytes => Math.round(bytes / 1_000_000));
  const text = `${waiting} MB of logs wait for the bucket, and builds are taken up to ${most} MB`;
  return { kind: 'shut', sensor: 'waiting-logs', text };
}

/** As in Zuul fewer may start the more run, but always some. */
function judgeStarting(
  { maxStartingBuilds }: IntakeLimits,
  { starting, running, processors }: SensorReadings,
): Intake | undefined {
  if (maxStartingBuilds === null) return undefined;
  const least = Math.min(Math.max(Math.floor(processors / 2), 1), maxStartingBuilds);
  const most = Math.max(maxStartingBuilds - running, least);
  if (starting < most) return undefined;
  const text = `${starting} builds are starting, and no more than ${most} may`;
  return { kind: 'shut', sensor: 'starting-builds', text };
}

/**
 * Shuts and opens the intake of builds by the sensors of the machine. It holds no build back that was taken, and is no verdict: requests stay
 * in the queue, for other executors too.
 *
 *     await governor.passed(signal);                                    // waits while a sensor has it shut
 *     await queue.take(accepts, AbortSignal.any([signal, governor.shuts]));
 */
import { type Intake, type IntakeLimits, judgeIntake, type SensorReadings } from './judge-intake.ts';
import { createMachineReader, type MachineReadings } from './read-sensors.ts';

/** What a governor watches, and whom it informs. */
export interface GovernorOptions {
  readonly limits: IntakeLimits;
  /** Called when it shuts, opens, or is shut by another sensor. */
  readonly onChange: (intake: Intake) => void;
  /** Bytes of logs that wait for the bucket now. Default: none ever do. */
  readonly waitingLogs?: () => number;
  /** Default: of this machine. */
  readonly machine?: () => MachineReadings;
  /** Milliseconds between two readings. Default 2000. */
  readonly intervalMs?: number;
}

/** Made by {@link createGovernor}. */
export interface Governor extends Disposable {
  /** Aborts when the intake shuts; another one each time it has opened. */
  readonly shuts: AbortSignal;
  /** Resolves when the intake is open, or when `signal` aborts. */
  passed(signal: AbortSignal): Promise<void>;
  /** Builds were taken, began or ended. */
  check(): void;
}

/** @param builds counts, now. */
export function createGovernor(
  options: GovernorOptions,
  builds: () => Pick<SensorReadings, 'starting' | 'running'>,
): Governor {
  const {
    limits,
    onChange,
    waitingLogs = () => 0,
    machine = createMachineReader(),
    intervalMs = 2_000,
  } = options;
  let intake: Intake = { kind: 'open' };
  let shuts = new AbortController();
  let opens = Promise.withResolvers<void>();
  const isIdle = Object.values(limits).every(limit => limit === null);

  function check(): void {
    if (isIdle) return;
    const next = judgeIntake(limits, { ...machine(), ...builds(), waitingLogs: waitingLogs() }, intake);
    const before = intake;
    intake = next;
    if (sensorOf(next) === sensorOf(before)) return;
    if (next.kind === 'open') {
      shuts = new AbortController();
      opens.resolve();
    } else if (before.kind === 'open') {
      // Where another sensor takes over, those who wait go on waiting.
      opens = Promise.withResolvers<void>();
      shuts.abort();
    }
    onChange(next);
  }

  const timer = isIdle ? undefined : setInterval(check, intervalMs);
  timer?.unref();
  return {
    get shuts() {
      return shuts.signal;
    },
    async passed(signal) {
      check();
      while (intake.kind === 'shut' && !signal.aborted) {
        const aborted = Promise.withResolvers<void>();
        const stop = () => aborted.resolve();
        signal.addEventListener('abort', stop, { once: true });
        await Promise.race([opens.promise, aborted.promise]);
        signal.removeEventListener('abort', stop);
      }
    },
    check,
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

/** A change of the figures alone is none. */
function sensorOf(intake: Intake): string {
  return intake.kind === 'open' ? '' : intake.sensor;
}

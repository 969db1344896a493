/** The governor of an executor: its limits from the settings, and where its changes are shown. */
import type { GovernorOptions } from '../../executor/governor/governor.ts';
import type { Intake, Sensor } from '../../executor/governor/judge-intake.ts';
import type { Log } from '../../lib/log.ts';
import type { Measurement } from '../../metrics/measurement.ts';
import type { ExecutorSettings } from '../../settings/settings.ts';

const SENSORS: readonly Sensor[] = ['load', 'memory', 'starting-builds', 'waiting-logs'];

interface IntakeGovernor {
  readonly options: GovernorOptions;
  /** @param executor name of its machine. */
  measurements(executor: string): readonly Measurement[];
}

/** Of `[executor]`, and bytes of `[log_store] max_waiting`. */
type Limits = Pick<ExecutorSettings, 'loadMultiplier' | 'minAvailMem' | 'maxStartingBuilds'> & {
  readonly mostWaitingLogs: number | undefined;
};

/**
 * @param publish the trouble of the component; undefined: none by a sensor.
 * @param waitingLogs bytes that wait for the bucket now.
 */
export function intakeGovernor(
  { loadMultiplier, minAvailMem, maxStartingBuilds, mostWaitingLogs }: Limits,
  log: Pick<Log, 'info' | 'warn'>,
  publish: (trouble: string | undefined) => void,
  waitingLogs: () => number,
): IntakeGovernor {
  let now: Intake = { kind: 'open' };
  return {
    options: {
      limits: {
        loadMultiplier: loadMultiplier ?? null,
        minAvailMem: minAvailMem ?? null,
        maxStartingBuilds: maxStartingBuilds ?? null,
        mostWaitingLogs: mostWaitingLogs ?? null,
      },
      waitingLogs,
      onChange(intake) {
        now = intake;
        if (intake.kind === 'open') {
          log.info({}, 'no sensor keeps builds out any more: taking work');
          publish(undefined);
          return;
        }
        const { sensor, text } = intake;
        // Builds start all the time: that some wait a moment for it is no trouble, and the registry is not written for each.
        const isBusy = sensor === 'starting-builds';
        log[isBusy ? 'info' : 'warn']({ sensor }, `taking no work: ${text}`);
        publish(isBusy ? undefined : `sensor ${sensor}: ${text}`);
      },
    },
    measurements: executor =>
      SENSORS.map(sensor => ({
        metric: 'gatehouse_executor_shut',
        labels: { executor, sensor },
        value: now.kind === 'shut' && now.sensor === sensor ? 1 : 0,
      })),
  };
}

/** Of several things that may keep a component from work the first one is shown. @param names from the most to the least important. */
export function severalTroubles<Name extends string>(
  names: readonly Name[],
  publish: (trouble: string | undefined) => void,
): (name: Name, trouble: string | undefined) => void {
  const known = new Map<Name, string | undefined>();
  return (name, trouble) => {
    known.set(name, trouble);
    publish(names.map(each => known.get(each)).find(each => each !== undefined));
  };
}

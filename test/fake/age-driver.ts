/**
 * The git driver with requirements on age: `older-than` and `newer-than`, seconds since the host was last asked about the change.
 * For stories about what happens in a pipeline by time alone.
 */
import { gitDriver } from '../../drivers/git/index.ts';
import type { DriverTable } from '../../src/cmd/service/driver-table.ts';
import type { Driver, DriverImports } from '../../src/driver/driver.ts';
import { addMilliseconds, millisecondsBetween, type Nanoseconds } from '../../src/lib/clock.ts';
import type { ChangeRecord } from '../../src/model/change.ts';
import type { Json } from '../../src/model/job.ts';
import { loadedDriver } from './loaded-driver.ts';

const { config } = gitDriver;

interface Ages {
  readonly olderMs?: number;
  readonly newerMs?: number;
}

/** The ages of a requirement, and the rest for git. */
function apart(value: Json): readonly [Ages, Json] {
  const { 'older-than': older, 'newer-than': newer, ...rest } = JSON.parse(JSON.stringify(value));
  return [
    {
      ...(typeof older === 'number' ? { olderMs: older * 1000 } : {}),
      ...(typeof newer === 'number' ? { newerMs: newer * 1000 } : {}),
    },
    rest,
  ];
}

function ageMs({ fetchedAt }: ChangeRecord, now: Nanoseconds): number {
  return millisecondsBetween(fetchedAt, now);
}

const ageDriver: Driver = {
  ...gitDriver,
  config: {
    ...config,
    parseRequirement(value) {
      const parsed = config.parseRequirement(apart(value)[1]);
      return parsed.kind === 'ok' ? { kind: 'ok', value } : parsed;
    },
    meets(requirement, record, now) {
      const [{ olderMs = 0, newerMs = Number.POSITIVE_INFINITY }, rest] = apart(requirement);
      const age = ageMs(record, now);
      if (age < olderMs) return { met: false, text: `it is not ${olderMs / 1000} s old yet` };
      if (age >= newerMs) return { met: false, text: `it is ${newerMs / 1000} s old by now` };
      return config.meets(rest, record, now);
    },
    recheckAt(requirement, record, now) {
      const [{ olderMs, newerMs }] = apart(requirement);
      const ages = [olderMs, newerMs].flatMap(ms =>
        ms !== undefined && ageMs(record, now) < ms ? [ms] : [],
      );
      return ages.length === 0 ? null : addMilliseconds(record.fetchedAt, Math.min(...ages));
    },
  },
};

/** For the threads, which load this module. */
export const drivers: readonly DriverImports[] = [loadedDriver(ageDriver)];

export const ageDrivers: DriverTable = { module: new URL(import.meta.url), entries: drivers };

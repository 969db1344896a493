/** Hosts of zones that no executor is in count as out of service until one comes. */
import type { Nanoseconds } from '../lib/clock.ts';
import { unreachedText } from '../model/executor-zone.ts';
import type { HostRow } from './host-table.ts';

/**
 * Remembers since when each zone has been without.
 *
 * @param reaches whether an executor that is registered is in the zone; true also where that is not known yet.
 */
export function zoneRows(
  reaches: (zone: string | undefined) => boolean,
  now: () => Nanoseconds,
): (rows: readonly HostRow[]) => readonly HostRow[] {
  const missing = new Map<string | undefined, Nanoseconds>();
  return rows => {
    const zones = new Set(rows.map(({ host }) => host.zone));
    for (const zone of new Set([...zones, ...missing.keys()])) {
      if (!zones.has(zone) || reaches(zone)) missing.delete(zone);
      else if (!missing.has(zone)) missing.set(zone, now());
    }
    return rows.map(row => {
      const since = missing.get(row.host.zone);
      if (since === undefined) return row;
      const unreached = unreachedText(row.host.zone);
      // What is wrong with the host itself comes first.
      const trouble = row.state?.trouble ?? { reason: unreached, since, tries: 0, retryAt: since };
      return { ...row, unreached, state: { ...row.state, trouble } };
    });
  };
}

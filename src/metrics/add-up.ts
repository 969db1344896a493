/** Adds up counts of the same thing: a reset of two hundred items gives two hundred times the same count. */
import type { Measurement } from './measurement.ts';
import { METRICS } from './metric-table.ts';

/** Observations and values of gauges are kept as they are, in their order. */
export function addedUp(measurements: Iterable<Measurement>): readonly Measurement[] {
  const sums = new Map<string, Measurement>();
  const others: Measurement[] = [];
  for (const measurement of measurements) {
    if (METRICS[measurement.metric].kind !== 'counter') {
      others.push(measurement);
      continue;
    }
    // Labels of a metric are always written in the same order.
    const key = `${measurement.metric}\0${Object.values(measurement.labels).join('\0')}`;
    const sum = sums.get(key);
    sums.set(key, sum === undefined ? measurement : { ...sum, value: sum.value + measurement.value });
  }
  return [...sums.values(), ...others];
}

/**
 * Limits how many values a label takes, for any names in configurations and jobs: values beyond the limit become `other`.
 *
 *     guard.bounded('job', 'unit-tests')     // 'unit-tests', or 'other'
 */

/** Stands for all values beyond the limit. */
const OVERFLOW = 'other';

/** Maximum number of values per label; labels not named here have few by nature. */
const BOUNDS: { readonly [label: string]: number } = {
  job: 200,
  queue: 200,
  pipeline: 200,
  tenant: 100,
  connection: 100,
  installation: 200,
  operation: 100,
};
const OTHERWISE = 50;
/** Characters of a value. */
const LONGEST = 120;

/** Of one process: the first values of a label are the ones that are kept. */
export interface LabelGuard {
  bounded(label: string, value: string): string;
}

/** @param onOverflow called for each replacement. */
export function createLabelGuard(onOverflow: (label: string) => void): LabelGuard {
  const known = new Map<string, Set<string>>();
  return {
    bounded(label, value) {
      const text = value.slice(0, LONGEST);
      const values = known.get(label) ?? new Set();
      known.set(label, values);
      if (values.has(text)) return text;
      if (values.size >= (BOUNDS[label] ?? OTHERWISE)) {
        onOverflow(label);
        return OVERFLOW;
      }
      values.add(text);
      return text;
    },
  };
}

/**
 * Which labels of nodes the jobs of a tenant may ask for. As in Zuul an expression must match from the start of the label, and an empty list
 * forbids nothing.
 */
import { compileRegex } from '../../lib/regex.ts';
import type { LabelNames } from '../../model/layout.ts';

/** Why none of the labels may be used, as a clause about the first that may not; undefined: all may. */
export type LabelRule = (labels: readonly string[]) => string | undefined;

/** One for all files of a layout. */
export function labelRule({ name, allowedLabels = [], disallowedLabels = [] }: LabelNames): LabelRule {
  const allowed = allowedLabels.map(compileRegex).filter(regex => regex.kind === 'regex');
  const disallowed = disallowedLabels.map(compileRegex).filter(regex => regex.kind === 'regex');
  return labels => {
    for (const label of labels) {
      if (allowed.length > 0 && !allowed.some(regex => regex.test(label)))
        return `label ${label} is none of those that tenant ${name} allows (allowed-labels: ${allowedLabels.join(', ')})`;
      if (disallowed.some(regex => regex.test(label)))
        return `tenant ${name} does not allow label ${label} (disallowed-labels: ${disallowedLabels.join(', ')})`;
    }
    return undefined;
  };
}

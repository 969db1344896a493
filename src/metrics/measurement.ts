/** One observation, as the pure functions of this room make it and the registry takes it. */
import type { SpanReference } from '../model/span.ts';
import type { MetricName } from './metric-table.ts';

/** Its labels are those of the metric's definition, all of them. */
export interface Measurement {
  readonly metric: MetricName;
  readonly labels: { readonly [label: string]: string };
  /** Added to a counter, observed by a histogram, the new value of a gauge. */
  readonly value: number;
  /** Trace of its subject, for the exemplar of a histogram; only if it is exported. */
  readonly trace?: SpanReference;
}

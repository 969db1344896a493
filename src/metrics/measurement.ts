/** One observation, as the pure functions of this room make them and the registry takes them. */
import type { SpanReference } from '../model/event.ts';
import type { MetricName } from './metric-table.ts';

export interface Measurement {
  readonly metric: MetricName;
  readonly labels: { readonly [label: string]: string };
  /** Added to a counter, observed by a histogram, the new value of a gauge. */
  readonly value: number;
  /** Whose it is, for the exemplar of a histogram; only of what is exported. */
  readonly trace?: SpanReference;
}

/**
 * Steps from one version of a record to the next. A step is never changed once it was released: a store may hold records of
 * any age. A fact that the older form did not hold gets the value that is safe to act on.
 */
import { parseNanoseconds } from '../../lib/clock.ts';
import type { ComponentRecord } from '../component.ts';
import type { PipelineEvent, ReportOutcome } from '../event.ts';
import type { LayoutSummary } from '../layout.ts';

/** Version 1 (0.1.0) knew no states, and only executors registered. */
export interface ComponentRecord1 {
  readonly host: string;
  readonly version: string;
  readonly labels: readonly string[];
}

const UNKNOWN = parseNanoseconds('0');

/** It takes work, as every component of that version did. */
export function componentFrom1({ host, version, labels }: ComponentRecord1): ComponentRecord {
  return { host, version, labels, pid: 0, state: 'running', startedAt: UNKNOWN, address: null };
}

/** The newer form only added possibilities: a record of the older one is read as it is. */
export function sameForm(value: unknown): unknown {
  return value;
}

/** Version 1 (0.1.0) did not hold what a layout was built from. */
export type LayoutSummary1 = Omit<LayoutSummary, 'builtFrom'>;

/** Such a layout cannot be built again from its summary. */
export function layoutFrom1(layout: LayoutSummary1): LayoutSummary {
  return { ...layout, builtFrom: null };
}

/** Version 2 (0.3.0) held whether a report merged, and not what the branches hold since. */
type ReportResult2 = Omit<Extract<PipelineEvent, { readonly kind: 'report-result' }>, 'outcome'> & {
  readonly outcome:
    | { readonly kind: 'done'; readonly merged: boolean }
    | Exclude<ReportOutcome, { readonly kind: 'done' }>;
};

/** Of version 2 and, in the same form, version 1. */
export type PipelineEvent2 = Exclude<PipelineEvent, { readonly kind: 'report-result' }> | ReportResult2;

/** A report that merged has landed exactly the tested commits: no driver of that version did otherwise. */
export function pipelineEventFrom2(event: PipelineEvent2): PipelineEvent {
  if (event.kind !== 'report-result' || event.outcome.kind !== 'done')
    return event as Exclude<PipelineEvent2, ReportResult2>;
  return { ...event, outcome: { kind: 'done', landed: event.outcome.merged ? 'as-tested' : [] } };
}

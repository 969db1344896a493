/** The record of one part of a report, as its item and its trace have it. */
import type { Nanoseconds } from '../../lib/clock.ts';
import type { Change } from '../../model/change.ts';
import { LONGEST_MEMORY } from '../../model/earlier-reports.ts';
import type { ReportOutcome } from '../../model/event.ts';
import type { Json } from '../../model/job.ts';
import type { LandedBranch } from '../../model/landed.ts';
import type { ReportRecord } from '../../model/queue-item.ts';
import type { ReportIntent } from '../../model/report-intent.ts';

/** One entry of {@link ReportRecord}. */
export type ReportPart = NonNullable<ReportRecord['done']>['parts'][number];

/** The outcome of one part. */
export type PartOutcome =
  | Exclude<ReportOutcome, { readonly kind: 'done' | 'withheld' }>
  | (Extract<ReportOutcome, { readonly kind: 'withheld' }> & { readonly text: string })
  /** `unsent`: it has landed, and the host did not take the comment. */
  | { readonly kind: 'done'; readonly landed: readonly LandedBranch[]; readonly unsent?: true };

/** For the item's next report. @param memory as the driver returned it; undefined: nothing. */
export function rememberedOf({ key }: Change, memory: Json | undefined): Pick<ReportPart, 'remembered'> {
  if (memory === undefined || JSON.stringify(memory).length > LONGEST_MEMORY) return {};
  return { remembered: { change: key, memory } };
}

/** Named where the report has parts about other changes, too. */
export function changeOfPart(
  { parts }: Pick<ReportIntent, 'parts'>,
  { change: { key } }: ReportIntent['parts'][number],
): Pick<ReportPart, 'change'> {
  return parts.some(({ change }) => change.key !== key) ? { change: key } : {};
}

/** Without what the driver returned beside its outcome. */
export function recordOf(
  part: ReportIntent['parts'][number],
  outcome: PartOutcome,
  startedAt: Nanoseconds,
  endedAt: Nanoseconds,
  tries: number,
): ReportPart {
  const kind = part.merges ? 'HostMerge' : 'HostReport';
  const common = { kind, connection: part.connection, startedAt, endedAt, tries } as const;
  switch (outcome.kind) {
    case 'done':
      return { ...common, outcome: 'done' };
    case 'failed':
      return { ...common, outcome: 'failed', reason: 'failed', text: outcome.text };
    case 'host':
      return { ...common, outcome: 'failed', reason: 'host', text: outcome.trouble.text };
    case 'withdrawn':
      return { ...common, outcome: 'withdrawn', reason: 'project-removed', text: outcome.text };
    case 'withheld':
      return { ...common, outcome: 'withheld', reason: 'shadow-mode', text: outcome.text };
    case 'base-moved':
    case 'not-merged':
      return { ...common, outcome: 'refused', reason: outcome.kind, text: outcome.text };
  }
}

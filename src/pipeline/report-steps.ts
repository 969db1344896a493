/**
 * How many steps of its reports an item keeps: it is one node of the store, and a host that does not serve is reported to hundreds
 * of times.
 */
import type { QueueItem, ReportRecord } from '../model/queue-item.ts';

type ReportDone = NonNullable<ReportRecord['done']>;

/** Steps of attempts that failed, over all reports of an item. Reports that ended otherwise are few. */
const MOST_STEPS_OF_FAILURES = 150;

/** `done` as the item keeps it: without the steps of failed parts where the item has enough of them. */
export function withKeptSteps({ reports }: Pick<QueueItem, 'reports'>, done: ReportDone): ReportDone {
  let left = MOST_STEPS_OF_FAILURES;
  for (const report of reports) for (const part of report.done?.parts ?? []) left -= stepsOfFailure(part);
  const parts = done.parts.map(part => {
    left -= stepsOfFailure(part);
    return part.outcome === 'failed' && left < 0 ? withoutSteps(part) : part;
  });
  return { ...done, parts };
}

function stepsOfFailure({ outcome, steps = [] }: ReportDone['parts'][number]): number {
  return outcome === 'failed' ? steps.length : 0;
}

function withoutSteps({ steps: _, ...part }: ReportDone['parts'][number]): ReportDone['parts'][number] {
  return part;
}

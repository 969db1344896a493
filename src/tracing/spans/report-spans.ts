/** `Report` (intent → done) → `HostReport`, `HostMerge`: requests to the code hosts and their answers. */
import { derivedSpanId, spanIdOf } from '../../lib/ids.ts';
import type { QueueItem, ReportEnd, ReportRecord } from '../../model/queue-item.ts';
import type { ItemContext } from './item-context.ts';
import { type ParentSpan, type SpanPlan, spanOf } from './span-plan.ts';
import { clampedParent } from './step-spans.ts';

/** @param other another version of the item: reports that are the same object in both are left out. */
export function planReports(context: ItemContext, other: QueueItem | undefined): readonly SpanPlan[] {
  return context.item.reports.flatMap((report, index) =>
    report.done !== null && report === other?.reports[index] ? [] : planReport(context, report),
  );
}

function planReport(context: ItemContext, report: ReportRecord): readonly SpanPlan[] {
  const { root } = context;
  const end = report.done?.at ?? root.end;
  const own = clampedParent(() => spanIdOf(report.uuid), root, { start: report.requestedAt, end });
  const whole: SpanPlan = {
    key: report.uuid,
    end,
    make: () =>
      spanOf({
        ...context.draft,
        kind: 'Report',
        subject: report.action,
        id: spanIdOf(report.uuid),
        parent: root,
        start: report.requestedAt,
        end,
        result: end === null ? undefined : resultOfReport(report.done?.outcome),
        common: context.withChange(),
        own: {
          action: report.action,
          reportOutcome: end === null ? undefined : (report.done?.outcome ?? 'withdrawn'),
        },
      }),
  };
  return [whole, ...planParts(context, own, report)];
}

function planParts(context: ItemContext, parent: ParentSpan, report: ReportRecord): readonly SpanPlan[] {
  return (report.done?.parts ?? []).map((part, index) => ({
    key: `${report.uuid}/${index}`,
    end: parent.end,
    make: () =>
      spanOf({
        ...context.draft,
        kind: part.kind,
        subject: part.connection,
        id: derivedSpanId(parent.id(), `${part.kind} ${part.connection}`, index),
        parent,
        start: part.startedAt,
        end: part.endedAt,
        result: resultOfReport(part.outcome),
        common: context.withChange(),
        own: {
          action: report.action,
          reportOutcome: part.outcome,
          reason: part.reason,
          connection: part.connection,
          attemptCount: part.tries,
        },
      }),
  }));
}

function resultOfReport(outcome: ReportEnd | undefined): string {
  switch (outcome) {
    case 'done':
      return 'SUCCESS';
    case 'refused':
      return 'FAILURE';
    case 'failed':
      return 'ERROR';
    case 'withdrawn':
    case undefined:
      return 'CANCELED';
  }
}

/** `Report` (intent → done) → `HostReport`, `HostMerge` (one reporter each) → `HostQuery`, `HostWait`: requests to the code hosts. */
import { derivedSpanId, spanIdOf } from '../../lib/ids.ts';
import type { ChangeKey } from '../../model/change.ts';
import type { QueueItem, ReportEnd, ReportRecord } from '../../model/queue-item.ts';
import type { Attributes } from '../../model/span.ts';
import { attributesOf } from '../attribute-values.ts';
import { changeAttributes } from './change-attributes.ts';
import type { ItemContext } from './item-context.ts';
import { once, type ParentSpan, type SpanPlan, spanOf } from './span-plan.ts';
import { clampedParent, planSteps } from './step-spans.ts';

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
  return (report.done?.parts ?? []).flatMap((part, index) => planPart(context, parent, report, part, index));
}

function planPart(
  context: ItemContext,
  parent: ParentSpan,
  { uuid, action }: ReportRecord,
  part: NonNullable<ReportRecord['done']>['parts'][number],
  index: number,
): readonly SpanPlan[] {
  const { kind, connection, startedAt, endedAt, steps = [] } = part;
  const key = `${uuid}/${index}`;
  const id = once(() => derivedSpanId(parent.id(), `${kind} ${connection}`, index));
  const whole: SpanPlan = {
    key,
    end: parent.end,
    make: () =>
      spanOf({
        ...context.draft,
        kind,
        subject: connection,
        id: id(),
        parent,
        start: startedAt,
        end: endedAt,
        result: resultOfReport(part.outcome),
        common: commonOf(context, part.change),
        own: {
          action,
          reportOutcome: part.outcome,
          reason: part.reason,
          connection,
          attemptCount: part.tries,
        },
      }),
  };
  const own = clampedParent(id, parent, { start: startedAt, end: endedAt });
  return [whole, ...planSteps(context, { key, parent: own, own: { connection } }, steps)];
}

/** @param key absent: of all changes of the item. */
function commonOf(context: ItemContext, key: ChangeKey | undefined): Attributes {
  const change = context.item.changes.find(each => each.key === key);
  if (change === undefined) return context.withChange();
  return attributesOf('BuildSet', changeAttributes([change], context.options), context.draft.common);
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
    case 'withheld':
    case undefined:
      return 'CANCELED';
  }
}

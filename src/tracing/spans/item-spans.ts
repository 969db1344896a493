/**
 * All spans of one queue item, as a pure function of its record, and those that ended between two versions of it.
 *
 *     QueueItem gate
 *     ├─ Wait window
 *     ├─ BuildSet 1                                  superseded, names the culprit
 *     │  ├─ Merge ── MergerJob ── FetchRefs, MergeChanges, ReadConfig
 *     │  ├─ Layout, JobGraph ── FreezeJob unit-tests
 *     │  ├─ RequirementWait unit-tests
 *     │  ├─ SemaphoreWait unit-tests
 *     │  └─ Build unit-tests ── ExecutorQueue, JobExecution ── BuildCheckout, Playbook run/test.sh, ...
 *     ├─ BuildSet 2                                  links: previous, caused_by
 *     ├─ Wait change-ahead
 *     ├─ Takeover                                    the pipeline went to another scheduler; beside the waits
 *     └─ Report success ── HostMerge local
 *
 * Called by the live view, the export, a repeated export after a crash and a back-fill from the history.
 *
 * A map of the folder, one file per family of spans:
 *
 *     span-plan              how a span is made; with span-options, links, change-attributes, worker-attributes, number-in-name
 *     items                  item-spans → queue-item-span, wait-spans (with work-windows), takeover-spans, build-set-spans
 *                            → merger-work-spans, turn-work-spans, job-wait-spans, build-spans → build-waits, execution-spans → step-spans; detail-text; report-spans;
 *                            item-context, tested-bases; late-execution-spans
 *     spans of jobs          job-spans, derivable-ids
 *     events                 ingestion-spans, tenant-event-spans, internal-event-spans, management-event-spans; reconfigure-spans,
 *                            event-context, event-process-spans, event-effect
 *     hosts                  host-answer-spans, host-progress-spans, host-sweep-spans
 *     background work        pass-spans
 *     order-spans            display order, for pages and the terminal
 *
 * Every function here is pure: no clock, no store, no randomness.
 */
import type { BuildSet } from '../../model/build-set.ts';
import { endOf } from '../../model/build-set.ts';
import { endOfItem, isExported, type QueueItem } from '../../model/queue-item.ts';
import type { SpanRecord } from '../../model/span.ts';
import { planBuildSet } from './build-set-spans.ts';
import { itemContext } from './item-context.ts';
import { planQueueItem } from './queue-item-span.ts';
import { planReports } from './report-spans.ts';
import { DEFAULT_SPAN_OPTIONS, type SpanOptions } from './span-options.ts';
import type { SpanPlan } from './span-plan.ts';
import { planTakeovers } from './takeover-spans.ts';
import { planWaits } from './wait-spans.ts';

/** Every span of the item, ended or open (`end` null), parents before children. Ignores `sampled`: that decides export. */
export function itemSpans(
  item: QueueItem,
  options: SpanOptions = DEFAULT_SPAN_OPTIONS,
): readonly SpanRecord[] {
  return planItem(item, undefined, options).map(plan => plan.make());
}

/** All spans exported for an item that has left; with the traces it follows from when it was held back and is kept. */
export function exportedSpans(
  item: QueueItem,
  options: SpanOptions = DEFAULT_SPAN_OPTIONS,
): readonly SpanRecord[] {
  return [...(item.origin.heldSpans ?? []), ...itemSpans(item, options)];
}

/**
 * Spans that ended between two versions of an item's record; none for an unsampled item. All spans of an item that was held back
 * and is kept count as ended when it leaves. Over any sequence of versions each span is returned exactly once, when it ends. The
 * commit that stores the new version writes them to the outbox.
 *
 * @param before undefined: the item is new. Parts that are the same object in both versions are skipped, so that the cost is that of
 *   the change.
 */
export function endedSpans(
  before: QueueItem | undefined,
  after: QueueItem,
  options: SpanOptions = DEFAULT_SPAN_OPTIONS,
): readonly SpanRecord[] {
  if (!isExported(after) || before === after) return [];
  if (after.kept === true) return exportedSpans(after, options);
  const sent = new Set<string>();
  if (before !== undefined) {
    for (const plan of planItem(before, after, options)) if (plan.end !== null) sent.add(plan.key);
  }
  const spans: SpanRecord[] = [];
  for (const plan of planItem(after, before, options)) {
    if (plan.end !== null && !sent.has(plan.key)) spans.push(plan.make());
  }
  return spans;
}

/**
 * @param other another version of the item: parts that are the same object in both and have ended there are left out,
 *   since they give the same spans.
 */
function planItem(item: QueueItem, other: QueueItem | undefined, options: SpanOptions): readonly SpanPlan[] {
  const context = itemContext(item, options);
  const plans: SpanPlan[] = [planQueueItem(context), ...planWaits(context, other)];
  const sameEnd = other !== undefined && endOfItem(item) === endOfItem(other);
  const kept = new Set<string>();
  let previous: BuildSet | undefined;
  for (let index = 0; index <= item.earlier.length; index++) {
    const buildset = item.earlier[index] ?? item.buildset;
    const before = other === undefined ? undefined : sameBuildSet(other, buildset, index);
    if (!isSettled(buildset, before, sameEnd)) {
      plans.push(...planBuildSet(context, buildset, { previous, kept, other: before }));
    }
    if (item.earlier.length > 0) for (const build of buildset.builds) kept.add(build.uuid);
    previous = buildset;
  }
  plans.push(...planTakeovers(context), ...planReports(context, other));
  return plans;
}

function sameBuildSet(item: QueueItem, buildset: BuildSet, index: number): BuildSet | undefined {
  const candidate = item.earlier[index] ?? item.buildset;
  return candidate.uuid === buildset.uuid ? candidate : undefined;
}

/** Whether it gives the same spans in both versions: it is the same object, and the item's end does not change its end. */
function isSettled(buildset: BuildSet, before: BuildSet | undefined, sameEnd: boolean): boolean {
  return buildset === before && (endOf(buildset) !== null || sameEnd);
}

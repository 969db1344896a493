/**
 * A bound for pipelines that trigger each other by their reports: the check of one brings the change into the other, whose check
 * brings it into the first, without end. A driver names the report that an event shows (`TriggerEvent.ownReport`); here the events of
 * each name are counted, per change, until something else happens to it: a new commit, a comment, a label, a vote of another. Beyond
 * the bound an event triggers no pipeline. So a cycle ends after some rounds, and what people or other systems do begins anew.
 *
 *     check reports 1, gate reports 1, check reports 2, …, gate reports 10, check reports 11: refused
 *     bob comments `recheck`: all counts are gone
 *
 * The counts are part of the change's record, so they are committed with the event that they count and outlive every process.
 */
import type { ProcessedEvent } from '../../driver/source.ts';
import { type ChangeKey, type ChangeRecord, sameRevision } from '../../model/change.ts';
import type { TriggerEvent } from '../../model/event.ts';

/** One round of a pipeline may show up as a status, a check run and a label of one name. */
const MOST_IN_A_ROW = 10;
/** Names counted for one change, the newest; a cycle of more reports than that is not ended. */
const MOST_NAMES = 100;

type Counts = NonNullable<ChangeRecord['ownReports']>;

/**
 * @param processed its records are to be written with its events.
 * @param record as it was before; undefined: the change is new.
 */
export function countOwnReports(
  processed: ProcessedEvent,
  record: (key: ChangeKey) => ChangeRecord | undefined,
): ProcessedEvent {
  const counts = new Map<ChangeKey, Counts>();
  const changes = processed.changes.map(each => withOwnReports(each, record(each.change.key)));
  for (const { change, ownReports = {} } of changes) counts.set(change.key, ownReports);
  const events = processed.events.map((event): TriggerEvent => {
    const { ownReport, change } = event;
    if (ownReport === undefined) {
      counts.set(change.key, {});
      return event;
    }
    const { [ownReport]: before = 0, ...others } = counts.get(change.key) ?? {};
    const entries = [...Object.entries(others), [ownReport, before + 1] as const];
    counts.set(change.key, Object.fromEntries(entries.slice(-MOST_NAMES)));
    return { ...event, ownReportsInARow: before + 1 };
  });
  return {
    ...processed,
    events,
    changes: changes.map(each => withCounts(each, counts.get(each.change.key))),
  };
}

/** The record as read with the counts of the one before it, for the same revision. */
export function withOwnReports(read: ChangeRecord, known: ChangeRecord | undefined): ChangeRecord {
  const isSame = known !== undefined && sameRevision(known.change, read.change);
  return withCounts(read, isSame ? known.ownReports : undefined);
}

function withCounts({ ownReports: _, ...record }: ChangeRecord, counts: Counts = {}): ChangeRecord {
  return Object.keys(counts).length === 0 ? record : { ...record, ownReports: counts };
}

/** Why the event triggers nothing; undefined: it may. */
export function cycleText({ ownReport, ownReportsInARow = 0 }: TriggerEvent): string | undefined {
  if (ownReport === undefined || ownReportsInARow <= MOST_IN_A_ROW) return undefined;
  return `it is number ${ownReportsInARow} of our own reports "${ownReport}" on this commit with nothing but our reports in between; after ${MOST_IN_A_ROW} they trigger no pipeline, because pipelines trigger each other here; any other event on the change begins anew`;
}

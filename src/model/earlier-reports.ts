/**
 * What is known of the reports that an item has had at a code host, so that the next one need not look for them. It saves requests
 * and decides nothing else: a host may have lost what a reporter remembers.
 */
import type { ChangeKey } from './change.ts';
import type { Json } from './job.ts';
import type { ReportRecord } from './queue-item.ts';

/** About one item and one of its changes, at one connection. */
export type EarlierReports =
  /** None was begun: the host has nothing of this item. */
  | { readonly kind: 'none' }
  /** What the reporter returned last. */
  | { readonly kind: 'remembered'; readonly memory: Json };

/** Characters as JSON of what a reporter may have remembered: an item is one node of the store. */
export const LONGEST_MEMORY = 1_000;

/**
 * @param reports of the item, all before the one that is about to be made, oldest first.
 * @returns undefined: a report was begun, and what came of it is not known.
 */
export function earlierReports(
  reports: readonly ReportRecord[],
  { connection, change }: { readonly connection: string; readonly change: ChangeKey },
): EarlierReports | undefined {
  if (reports.length === 0) return { kind: 'none' };
  const newest = reports
    .flatMap(({ done }) => done?.parts ?? [])
    .findLast(part => part.connection === connection && part.remembered?.change === change);
  return newest?.remembered === undefined
    ? undefined
    : { kind: 'remembered', memory: newest.remembered.memory };
}

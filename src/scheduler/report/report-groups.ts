/** Offered reports that are performed as one, and the commits that answer them. */
import type { ReportIntent } from '../../model/report-intent.ts';
import { MAX_MULTI_BYTES, type Operation } from '../../store/port.ts';
import { operationBytes } from '../../store/size.ts';
import type { Offer } from './report-offers.ts';

/** An intent, and where it is in the outbox. */
export interface OfferedReport {
  readonly intent: ReportIntent;
  readonly offer: Offer;
}

/** Those that land together, in the order of their items; every other report by itself. */
export function groupsOf(
  offered: readonly OfferedReport[],
): readonly (readonly [OfferedReport, ...OfferedReport[]])[] {
  const groups = new Map<string, [OfferedReport, ...OfferedReport[]]>();
  for (const each of offered) {
    const { uuid, together } = each.intent;
    const key = together ?? uuid;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [each]);
    else group.push(each);
  }
  return [...groups.values()];
}

/** Room for what the fence adds. */
const LARGEST = MAX_MULTI_BYTES - 4096;

/** As few commits as take them, in order. @param answers operations that must not be taken apart. */
export function inCommits(answers: readonly (readonly Operation[])[]): readonly (readonly Operation[])[] {
  const commits: Operation[][] = [];
  let room = 0;
  for (const operations of answers) {
    const bytes = operations.reduce((sum, operation) => sum + operationBytes(operation), 0);
    const last = commits.at(-1);
    if (last === undefined || bytes > room) {
      commits.push([...operations]);
      room = LARGEST - bytes;
    } else {
      last.push(...operations);
      room -= bytes;
    }
  }
  return commits;
}

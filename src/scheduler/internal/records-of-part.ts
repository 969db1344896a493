/** What the changes of a part need and the change cache lacks. */
import { millisecondsBetween, parseNanoseconds } from '../../lib/clock.ts';
import type { ChangeKey, ChangeRecord, ProposedChange } from '../../model/change.ts';
import type { InternalEvent } from '../../model/internal-event.ts';
import type { Step } from '../../model/step.ts';
import { type MissingRecordsDeps, missingRecords } from '../events/missing-records.ts';
import { isRemoteFault } from '../remote-fault.ts';
import { type Besides, LONGEST_WAIT } from './open-at-host.ts';

/** Every known record is new enough. */
const EVER = parseNanoseconds('0');

export interface FoundRecords {
  readonly kind: 'found';
  readonly part: readonly ProposedChange[];
  readonly records: ReadonlyMap<ChangeKey, ChangeRecord>;
  readonly queries: ReadonlyMap<ChangeKey, readonly Step[]>;
}

/** After an hour a change whose dependencies cannot be read is left out. */
export async function recordsOf(
  part: readonly ProposedChange[],
  besides: Besides,
  { queuedAt }: Pick<InternalEvent, 'queuedAt'>,
  deps: MissingRecordsDeps,
  signal: AbortSignal,
): Promise<FoundRecords | { readonly kind: 'away'; readonly error: unknown }> {
  const records = new Map<ChangeKey, ChangeRecord>();
  const queries = new Map<ChangeKey, readonly Step[]>();
  const read: ProposedChange[] = [];
  const known = { record: (key: ChangeKey) => besides.get(key) ?? deps.changes.record(key) };
  const changes: MissingRecordsDeps['changes'] = {
    ...known,
    fresh: () => deps.changes.fresh(),
    mark: () => deps.changes.mark(),
    changedSince: (mark, keys) => deps.changes.changedSince(mark, keys),
  };
  for (const change of part) {
    const own = besides.get(change.key);
    if (own !== undefined) records.set(change.key, own);
    try {
      const found = await missingRecords(change, EVER, { ...deps, changes }, signal);
      for (const record of found.records) records.set(record.change.key, record);
      queries.set(change.key, found.queries);
      read.push(change);
    } catch (error) {
      signal.throwIfAborted();
      if (!isRemoteFault(error)) throw error;
      if (millisecondsBetween(queuedAt, deps.clock.now()) <= LONGEST_WAIT) return { kind: 'away', error };
    }
  }
  return { kind: 'found', part: read, records, queries };
}

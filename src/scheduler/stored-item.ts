/**
 * A queue item as it is stored: whole, or, when a long story makes it larger than a store node may be, without the workers'
 * steps of buildsets that are over. Those spans were sent when they ended; what happened and why stays.
 */

import type { Build, BuildState } from '../model/build.ts';
import type { BuildSet, MergerWork } from '../model/build-set.ts';
import { queueItemCodec } from '../model/codec/records.ts';
import type { QueueItem } from '../model/queue-item.ts';

/** Bytes; far enough below a multi-write's limit for what rides along. */
const WHOLE_LIMIT = 500_000;

export function encodeStoredItem(item: QueueItem): Uint8Array {
  const whole = queueItemCodec.encode(item);
  return whole.byteLength <= WHOLE_LIMIT ? whole : queueItemCodec.encode(withoutOldSteps(item));
}

export function withoutOldSteps(item: QueueItem): QueueItem {
  return { ...item, earlier: item.earlier.map(lighter) };
}

function lighter(buildset: BuildSet): BuildSet {
  return {
    ...buildset,
    mergerWork: buildset.mergerWork.map(lighterWork),
    filesChanged: [],
    builds: buildset.builds.map((build): Build => ({ ...build, state: lighterState(build.state) })),
  };
}

function lighterWork(work: MergerWork): MergerWork {
  return work.done === null ? work : { ...work, done: { ...work.done, steps: [] } };
}

function lighterState(state: BuildState): BuildState {
  return state.state === 'completed' || state.state === 'cancelled' ? { ...state, execution: null } : state;
}

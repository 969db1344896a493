/**
 * A queue item as it is stored: whole, or, when it is larger than a store node may be, without the workers' steps of earlier
 * buildsets; if that is not enough, also without the parts of playbooks. Those spans were sent when they ended; what happened and
 * why stays. Data that earlier buildsets returned is of no use any more.
 */

import type { Build, BuildState } from '../../model/build.ts';
import type { BuildSet, MergerWork } from '../../model/build-set.ts';
import { queueItemCodec } from '../../model/codec/records.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import { publicPart } from '../../model/returned.ts';

/** Bytes; below a multi-write's limit, with room for the other operations. */
const WHOLE_LIMIT = 500_000;

/** The bytes of the item's node. */
export function encodeStoredItem(item: QueueItem): Uint8Array {
  return fitting(item).data;
}

/** The item as far as it fits into a record of the history, without secret data of jobs. */
export function storableItem(item: QueueItem): QueueItem {
  return fitting(isSealed(item) ? unsealedItem(item) : item).item;
}

function fitting(item: QueueItem): { readonly item: QueueItem; readonly data: Uint8Array } {
  const whole = queueItemCodec.encode(item);
  if (whole.byteLength <= WHOLE_LIMIT) return { item, data: whole };
  const light = withoutOldSteps(item);
  const data = queueItemCodec.encode(light);
  if (data.byteLength <= WHOLE_LIMIT) return { item: light, data };
  const lightest = withoutParts(light);
  return { item: lightest, data: queueItemCodec.encode(lightest) };
}

function isSealed({ buildset, earlier }: QueueItem): boolean {
  const builds = [buildset, ...earlier].flatMap(each => each.builds);
  return builds.some(({ state }) => state.state === 'completed' && state.returned?.sealed !== undefined);
}

function unsealedItem(item: QueueItem): QueueItem {
  const stripped = (buildset: BuildSet) => ({ ...buildset, builds: buildset.builds.map(unsealed) });
  return { ...item, buildset: stripped(item.buildset), earlier: item.earlier.map(stripped) };
}

function unsealed(build: Build): Build {
  const { state } = build;
  if (state.state !== 'completed' || state.returned?.sealed === undefined) return build;
  return { ...build, state: { ...state, returned: publicPart(state.returned) } };
}

/** The executions stay: they distinguish a repeated result from a first one. */
function withoutParts(item: QueueItem): QueueItem {
  const { buildset } = item;
  return {
    ...item,
    buildset: {
      ...buildset,
      builds: buildset.builds.map((build): Build => ({ ...build, state: stateWithoutParts(build.state) })),
    },
  };
}

function stateWithoutParts(state: BuildState): BuildState {
  if ((state.state !== 'completed' && state.state !== 'cancelled') || state.execution === null) return state;
  const steps = state.execution.steps.map(({ steps: _parts, ...step }) => step);
  return { ...state, execution: { ...state.execution, steps } };
}

function withoutOldSteps(item: QueueItem): QueueItem {
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
  if (state.state === 'cancelled') return { ...state, execution: null };
  if (state.state !== 'completed') return state;
  const { returned: _, ...rest } = state;
  return { ...rest, execution: null };
}

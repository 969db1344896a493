/**
 * Records a takeover of a pipeline on each of its items, for explanations and traces.
 *
 * Items that the turn writes anyway are marked immediately, of the others a few per turn, so that the first turn after an outage is
 * no larger than another. Until all are marked the pipeline's record keeps the takeover: a scheduler that dies in between loses none.
 */
import type { Nanoseconds } from '../lib/clock.ts';
import { parseNanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import type { PipelineState } from '../model/pipeline-state.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { type Holder, isSameTerm, MOST_TAKEOVERS, type Takeover } from '../model/takeover.ts';

/** A scheduler became the holder of a pipeline. */
export interface Arrival {
  readonly holder: Holder;
  /** null: no scheduler held the pipeline before it, or the pipeline is empty. */
  readonly takeover: Takeover | null;
}

/** Items written per turn for the mark alone. */
const MOST_AT_ONCE = 20;
/** Takeovers kept by a pipeline whose items are not marked yet; the oldest are dropped. */
const MOST_KEPT = 8;

/**
 * @param output of the turn that begins with `before`.
 * @returns the same object when the arrival is recorded already, or is not worth a commit of its own.
 */
export function withArrival<T extends { readonly state: PipelineState; readonly left: readonly QueueItem[] }>(
  before: PipelineState,
  output: T,
  { holder, takeover }: Arrival,
): T {
  const hasArrived = isSameTerm(before.holder, holder);
  const due = [...(before.takeovers ?? []), ...(hasArrived || takeover === null ? [] : [takeover])].slice(
    -MOST_KEPT,
  );
  if (due.length === 0 && (hasArrived || output.state === before)) return output;
  const { items, isComplete } = marked(before, output.state, due);
  const { takeovers: _, ...state } = output.state;
  return {
    ...output,
    state: { ...state, items, holder, ...(isComplete ? {} : { takeovers: due }) },
    left: output.left.map(item => withMarks(item, due)),
  };
}

function marked(before: PipelineState, after: PipelineState, due: readonly Takeover[]) {
  const items = new Map<Uuid, QueueItem>();
  let room = MOST_AT_ONCE;
  let isComplete = true;
  for (const [uuid, item] of after.items) {
    const next = withMarks(item, due);
    const isWritten = before.items.get(uuid) !== item;
    if (next !== item && !isWritten) room -= 1;
    const hasRoom = isWritten || room >= 0;
    if (next !== item && !hasRoom) isComplete = false;
    items.set(uuid, hasRoom ? next : item);
  }
  return { items: due.length === 0 ? after.items : items, isComplete };
}

/** The same item when it has them, or was enqueued later. */
function withMarks(item: QueueItem, due: readonly Takeover[]): QueueItem {
  const last = item.moreTakeovers?.last ?? item.takeovers?.at(-1)?.at ?? item.enqueuedAt;
  return due.filter(({ at }) => BigInt(at) > BigInt(last)).reduce(withMark, item);
}

function withMark(item: QueueItem, takeover: Takeover): QueueItem {
  const { takeovers = [], moreTakeovers: more } = item;
  if (takeovers.length < MOST_TAKEOVERS) return { ...item, takeovers: [...takeovers, takeover] };
  const duration = BigInt(more?.duration ?? 0) + BigInt(lengthOf(takeover));
  return {
    ...item,
    moreTakeovers: {
      count: (more?.count ?? 0) + 1,
      duration: parseNanoseconds(duration.toString()),
      last: takeover.at,
    },
  };
}

function lengthOf({ since, at }: Takeover): Nanoseconds {
  return parseNanoseconds((BigInt(at) - BigInt(since)).toString());
}

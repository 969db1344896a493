/** Takeover and release of a pipeline: which scheduler held it before, and since when none has. */
import { type Clock, earlierOf, laterOf } from '../../lib/clock.ts';
import type { IdMaker } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import type { PipelineState } from '../../model/pipeline-state.ts';
import { type Holder, isSameTerm } from '../../model/takeover.ts';
import type { Arrival } from '../../pipeline/takeovers.ts';
import { isOutOfContact } from '../../store/connection.ts';
import { type Fence, Fenced } from '../../store/fence.ts';
import type { StorePaths } from '../../store/paths.ts';
import { type Store, set } from '../../store/port.ts';
import { lastSign } from '../../store/signs-of-life.ts';
import { latestTime } from './pipeline-clock.ts';
import { countersOf } from './turn-operations.ts';

/** Of the scheduler that has just acquired the pipeline's fence. */
export interface ArrivalDeps {
  readonly store: Store;
  readonly paths: Pick<StorePaths, 'sign'>;
  /** The pipeline's clock: no takeover ends before a recorded time. */
  readonly clock: Pick<Clock, 'now'>;
  /** Of this process. */
  readonly name: string;
}

/** @param state as stored, when its first turn can be taken. */
export async function arrivalAt(
  state: PipelineState,
  { store, paths, clock, name }: ArrivalDeps,
): Promise<Arrival> {
  const before = state.holder;
  // The same session, only out of contact meanwhile.
  if (before?.session === store.sessionId && before.until === undefined)
    return { holder: before, takeover: null };
  const alive =
    before === undefined || state.items.size === 0
      ? undefined
      : (before.until ?? (await lastHeardOf(before, state, { store, paths })));
  const holder: Holder = { name, session: store.sessionId, since: clock.now() };
  if (before === undefined || alive === undefined) return { holder, takeover: null };
  return {
    holder,
    takeover: {
      from: before.name,
      to: name,
      how: before.until === undefined ? 'lost' : 'released',
      since: earlierOf(alive, holder.since),
      at: holder.since,
    },
  };
}

/** The latest of its last sign of life and the last time it recorded. */
async function lastHeardOf(
  { session, since }: Holder,
  state: PipelineState,
  { store, paths }: Pick<ArrivalDeps, 'store' | 'paths'>,
) {
  const sign = await lastSign(store, paths.sign(session));
  return [sign ?? since, latestTime(state.items.values())].reduce(laterOf, since);
}

/** `clock` is the pipeline's, so that the release is not before a recorded time. */
export interface ReleaseDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: IdMaker;
  readonly log: Log;
  /** Place of the pipeline's state. */
  readonly counters: string;
}

/**
 * Records that the pipeline is released in order, and when, for the next holder.
 *
 * @param state what is stored: call between turns.
 */
export async function noteRelease(
  state: PipelineState,
  { holder }: Arrival,
  fence: Fence,
  { clock, ids, log, counters }: ReleaseDeps,
): Promise<void> {
  // Without items no takeover is recorded.
  if (state.items.size === 0 || !isSameTerm(state.holder, holder)) return;
  const released = { ...state, holder: { ...holder, until: clock.now() } };
  try {
    await fence.commit([set(counters, countersOf(released))], ids.uuid());
  } catch (error) {
    if (!(error instanceof Fenced) && !isOutOfContact(error)) throw error;
    log.debug({ err: error }, 'another scheduler holds the pipeline already');
  }
}

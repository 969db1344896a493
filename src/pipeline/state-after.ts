/**
 * The pipeline's state at the end of a turn. What did not change keeps its identity, so that the commit finds what did by comparing
 * references: the state itself, each queue, the list of queues.
 */
import type { Uuid } from '../lib/ids.ts';
import type { PipelineHalt } from '../model/halt.ts';
import type { ChangeQueue, PipelineState, TestedState } from '../model/pipeline-state.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { ProvidedByChange } from '../model/requirement.ts';
import type { Manager } from './manager/manager.ts';
import type { QueueDrafts } from './queue-drafts.ts';
import type { TurnInput } from './turn.ts';

/** Of a pipeline that does not reuse results. */
export const NO_STATES: readonly TestedState[] = [];
/** Of a pipeline that no operator keeps from anything. */
export const NO_HALTS: readonly PipelineHalt[] = [];
/** Of a pipeline whose jobs provided nothing yet. */
export const NOTHING_PROVIDED: readonly ProvidedByChange[] = [];

/** The part of a turn's draft that becomes state. */
interface DraftedState {
  readonly manager: Manager;
  /** Those that left in this turn are still in `items`. */
  readonly queues: QueueDrafts;
  readonly consecutiveFailures: number;
  readonly disabled: boolean;
  readonly testedStates: readonly TestedState[];
  readonly provided: readonly ProvidedByChange[];
  readonly halts: readonly PipelineHalt[];
}

/** @param items at the end; the same object as the input's where no item changed. */
export function stateAfter(
  input: TurnInput,
  drafted: DraftedState,
  items: ReadonlyMap<Uuid, QueueItem>,
): PipelineState {
  const before = input.state;
  const queues = finalQueues(input, drafted, items);
  const { consecutiveFailures, disabled, testedStates, provided, halts } = drafted;
  const countersSame = consecutiveFailures === before.consecutiveFailures && disabled === before.disabled;
  const {
    countedUnder,
    testedStates: knownStates = NO_STATES,
    provided: known,
    halts: knownHalts = NO_HALTS,
    ...rest
  } = before;
  const statesSame =
    testedStates === knownStates && provided === (known ?? NOTHING_PROVIDED) && halts === knownHalts;
  if (countersSame && statesSame && queues === before.queues && items === before.items) return before;
  const under = countersSame ? countedUnder : (input.layoutVersion ?? null);
  const counted = { consecutiveFailures, disabled, countedUnder: under };
  const states = {
    ...(testedStates.length === 0 ? {} : { testedStates }),
    ...(provided.length === 0 ? {} : { provided }),
    ...(halts.length === 0 ? {} : { halts }),
  };
  return { ...rest, ...counted, ...states, queues, items };
}

function finalQueues(
  { pipeline }: TurnInput,
  { manager, queues }: DraftedState,
  present: ReadonlyMap<Uuid, QueueItem>,
): readonly ChangeQueue[] {
  /** An empty queue is kept only for its learnt window. */
  const isForgettable = ({ window, items }: ChangeQueue) =>
    items.length === 0 && (manager.window !== 'learnt' || window === pipeline.window.initial);
  return queues.final(uuid => present.has(uuid), isForgettable);
}

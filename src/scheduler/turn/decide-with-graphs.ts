/** Decides one turn: the pure pass, repeated with job graphs until it needs none. Nothing here writes. */
import type { Uuid } from '../../lib/ids.ts';
import type { PipelineState } from '../../model/pipeline-state.ts';
import { decideTurn } from '../../pipeline/decide-turn.ts';
import { type FreezeFact, joined, type Need, type TurnInput, type TurnOutput } from '../../pipeline/turn.ts';

/** A whole turn as decided; nothing of it is stored yet. */
export type Draft = Omit<TurnOutput, 'needs'>;

/** Supplies the job graph of a merged buildset. `state` is the state the need came from. */
export type Freeze = (need: Need, state: PipelineState) => FreezeFact;

/** @param freeze called for each need; it must answer, so that every round comes closer to a state without needs. */
export function decideWithNeeds(input: Omit<TurnInput, 'frozen'>, freeze: Freeze): Draft {
  let whole = decideTurn({ ...input, frozen: new Map() });
  while (whole.needs.length > 0) {
    const { needs, state } = whole;
    const frozen = new Map<Uuid, FreezeFact>(needs.map(need => [need.buildset, freeze(need, state)]));
    whole = joined(whole, decideTurn({ ...input, state, events: [], frozen }));
  }
  return whole;
}

/** Decides one turn: the pure pass, repeated with job graphs until it needs none. Nothing here writes. */
import type { Uuid } from '../../lib/ids.ts';
import type { Decision } from '../../model/decision.ts';
import type { PipelineState } from '../../model/pipeline-state.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import { decideTurn } from '../../pipeline/decide-turn.ts';
import type { Command, FreezeFact, IgnoredEvent, Need, TurnInput, TurnOutput } from '../../pipeline/turn.ts';

/** A whole turn as decided; nothing of it is stored yet. */
export interface Draft {
  readonly state: PipelineState;
  readonly commands: readonly Command[];
  readonly decisions: readonly Decision[];
  /** Events that change nothing, for the debug log. */
  readonly ignored: readonly IgnoredEvent[];
  readonly left: readonly QueueItem[];
  readonly postponed: TurnOutput['postponed'];
}

/** Supplies the job graph of a merged buildset. `state` is the state the need came from. */
export type Freeze = (need: Need, state: PipelineState) => FreezeFact;

/** @param freeze called for each need; it must answer, so that every round comes closer to a state without needs. */
export function decideWithNeeds(input: Omit<TurnInput, 'frozen'>, freeze: Freeze): Draft {
  let output = decideTurn({ ...input, frozen: new Map() });
  const { ignored, postponed } = output;
  let { commands, decisions, left } = output;
  while (output.needs.length > 0) {
    const before = output.state;
    const frozen = new Map<Uuid, FreezeFact>(output.needs.map(need => [need.buildset, freeze(need, before)]));
    output = decideTurn({ ...input, state: before, events: [], frozen });
    commands = [...commands, ...output.commands];
    decisions = [...decisions, ...output.decisions];
    left = [...left, ...output.left];
  }
  return { state: output.state, commands, decisions, ignored, left, postponed };
}

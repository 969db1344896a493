/** An operator's word that a pipeline, or one of its queues, starts nothing or takes nothing for a while, with the reason for all to read. */
import { type Nanoseconds, parseNanoseconds } from '../lib/clock.ts';

/** `pause`: no build is requested, what runs goes on. `drain`: nothing enters, what is inside finishes. */
export const HALT_MODES = ['pause', 'drain'] as const;
/** One of {@link HALT_MODES}. */
export type HaltMode = (typeof HALT_MODES)[number];

/** Part of the record `pipeline`. At most one for each queue, and one for the pipeline. */
export interface PipelineHalt {
  /** Name of a queue; null: the whole pipeline. */
  readonly queue: string | null;
  readonly mode: HaltMode;
  readonly reason: string;
  /** Who asked. */
  readonly by: string;
  readonly since: Nanoseconds;
}

/** When an event is due that waits for an operator. */
export const NO_TIME: Nanoseconds = parseNanoseconds('9000000000000000000');

/** Of one pipeline. */
export const MOST_HALTS = 20;
/** Characters. */
export const LONGEST_REASON = 300;

/** What halts a queue so; that of the pipeline comes first. Undefined: nothing. */
export function haltOf(
  halts: readonly PipelineHalt[],
  queue: string,
  mode: HaltMode,
): PipelineHalt | undefined {
  const found = halts.filter(halt => halt.mode === mode && (halt.queue === null || halt.queue === queue));
  return found.find(halt => halt.queue === null) ?? found[0];
}

/** One clause: `no disk on the executors (bob)`. */
export function haltText({ reason, by }: Pick<PipelineHalt, 'reason' | 'by'>): string {
  return `${reason} (${by})`;
}

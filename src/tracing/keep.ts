/**
 * Which items are kept for what became of them, although the ratio left them out: `[tracing] keep`.
 *
 *     keep = failure, error, reset, slower than 30m
 *
 * While there are rules, an item the ratio left out is held back (`QueueItem.heldBack`): nothing of it is exported until it leaves.
 * Then it is decided once, for the item as a whole, and the verdict stays with it (`QueueItem.kept`).
 */
import { millisecondsBetween } from '../lib/clock.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { BuildSetResult } from '../model/results.ts';

type KeptOutcome =
  | 'failure'
  | 'error'
  | 'merge-conflict'
  | 'config-error'
  | 'dequeued'
  | 'superseded'
  | 'reset';

/** An item is kept when any of them holds. */
export interface KeepRules {
  readonly outcomes: readonly KeptOutcome[];
  /** Milliseconds from enqueue to dequeue beyond which an item is kept; null: however long it took. */
  readonly slowerThanMs: number | null;
}

export function hasRules({ outcomes, slowerThanMs }: KeepRules): boolean {
  return outcomes.length > 0 || slowerThanMs !== null;
}

/** Whether a rule holds for an item that has left. */
export function isKept(item: QueueItem, { outcomes, slowerThanMs }: KeepRules): boolean {
  const { phase } = item;
  if (phase.phase !== 'left') return false;
  // It only held a place, and nothing went wrong.
  if (phase.reason === 'no-longer-needed') return false;
  if (slowerThanMs !== null && millisecondsBetween(item.enqueuedAt, phase.at) > slowerThanMs) return true;
  return outcomes.some(outcome => {
    if (outcome === 'reset') return item.earlier.length > 0;
    // It went on in another pipeline, or a newer one runs in its place: a usual end, and nothing that went wrong.
    if (phase.reason === 'superseded' || phase.reason === 'overtaken') return outcome === 'superseded';
    return RESULTS[outcome].includes(phase.result);
  });
}

const RESULTS: { readonly [outcome in Exclude<KeptOutcome, 'reset'>]: readonly BuildSetResult[] } = {
  failure: ['FAILURE', 'MERGE_FAILURE'],
  error: ['ERROR'],
  'merge-conflict': ['MERGE_CONFLICT'],
  'config-error': ['CONFIG_ERROR'],
  dequeued: ['DEQUEUED'],
  superseded: [],
};

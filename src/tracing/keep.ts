/**
 * Which unsampled items are exported because of their outcome: `[tracing] keep`.
 *
 *     keep = failure, error, reset, slower than 30m
 *
 * While there are rules, an unsampled item is held back (`QueueItem.heldBack`): nothing of it is exported until it leaves. Then the
 * decision is made once for the whole item and stored (`QueueItem.kept`).
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
  /** Milliseconds from enqueue to dequeue beyond which an item is kept; null: duration does not count. */
  readonly slowerThanMs: number | null;
}

/** While it is true, unsampled items are held back until they leave, and the spans of their events are stored with them. */
export function hasRules({ outcomes, slowerThanMs }: KeepRules): boolean {
  return outcomes.length > 0 || slowerThanMs !== null;
}

/** Whether a rule holds for an item that has left. */
export function isKept(item: QueueItem, { outcomes, slowerThanMs }: KeepRules): boolean {
  const { phase } = item;
  if (phase.phase !== 'left') return false;
  // A dependency item that did not fail.
  if (phase.reason === 'no-longer-needed') return false;
  if (slowerThanMs !== null && millisecondsBetween(item.enqueuedAt, phase.at) > slowerThanMs) return true;
  return outcomes.some(outcome => {
    if (outcome === 'reset') return item.earlier.length > 0;
    // The change went on in another pipeline, or a newer item runs instead: a normal end, not a failure.
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

/** What `[tracing]` says in a run: in most everything is kept; in some a part by ratio, and of the rest what went wrong. */
import type { TracePolicy } from '../../src/tracing/live-tracing.ts';
import { stream } from './kernel/random.ts';

/** Jobs take about that long: some are expected to take longer and get traces of their own. */
const SPLIT_AFTER = 7_000;

const NOTHING = { outcomes: [], slowerThanMs: null } as const;
const TROUBLE = {
  outcomes: ['failure', 'merge-conflict', 'dequeued', 'reset'],
  slowerThanMs: 60_000,
} as const;

/** Always the same for a seed. */
export function tracePolicyOf(seed: number): TracePolicy {
  const random = stream(seed, 'tracing');
  const everything = { ratio: 1, keep: NOTHING };
  const part = { ratio: 0.4, keep: random.pick([NOTHING, TROUBLE]) };
  return { ...random.pick([everything, everything, part]), splitAfterMs: SPLIT_AFTER };
}

import { CallLost } from '../lib/worker-calls.ts';
import type { HttpRefusal } from './answer.ts';

/** Refusal for a query that the history aborted as too long, or rejected because too many wait. */
export function refusalForLostCall(error: unknown): HttpRefusal | undefined {
  if (!(error instanceof CallLost) || (error.because !== 'time' && error.because !== 'busy'))
    return undefined;
  const texts = {
    time: 'the query takes too long; narrow it: fewer filters with *, or a range by idx_min and idx_max',
    busy: 'too many queries of the history; try again later',
  };
  return {
    kind: 'refused',
    status: 503,
    error: texts[error.because],
    place: 'history',
    headers: { 'Retry-After': '10' },
  };
}

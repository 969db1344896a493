import { CallLost } from '../lib/worker-calls.ts';
import type { HttpRefusal } from './answer.ts';

/** The history gives up questions that take too long, and takes only so many at a time. */
export function refusalForLostCall(error: unknown): HttpRefusal | undefined {
  if (!(error instanceof CallLost) || (error.because !== 'time' && error.because !== 'busy'))
    return undefined;
  const texts = {
    time: 'the history has no answer in time; ask for less: fewer filters with *, or a stretch by idx_min and idx_max',
    busy: 'too many ask the history at this moment; ask again a little later',
  };
  return {
    kind: 'refused',
    status: 503,
    error: texts[error.because],
    place: 'history',
    headers: { 'Retry-After': '10' },
  };
}

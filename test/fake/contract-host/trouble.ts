/** The fake host's errors in the words of the contract. */
import type { ProcessedLater } from '../../../src/driver/source.ts';
import { HostError } from './faults.ts';

/** Undefined: it is no trouble of the host's. */
export function laterOf(error: unknown): ProcessedLater['later'] | undefined {
  if (!(error instanceof HostError)) return undefined;
  const until = error.until === undefined ? {} : { notBefore: error.until };
  switch (error.status) {
    case 403:
    case 429:
      return { reason: 'limited', text: error.message, ...until };
    case 503:
    case 'lost':
      return { reason: 'unreachable', text: error.message };
    default:
      return undefined;
  }
}

/** For a caller that knows only of errors: tried again later. */
export class Unserved extends Error {
  readonly retryable = true;
  readonly reason: ProcessedLater['later']['reason'];
  readonly unsettled: boolean;

  constructor({ reason, text }: ProcessedLater['later'], { unsettled = false } = {}) {
    super(text);
    this.reason = reason;
    this.unsettled = unsettled;
  }
}

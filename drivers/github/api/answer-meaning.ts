/** What an exchange means for the caller of the API. Pure. */
import { fromMilliseconds } from '../../../src/lib/clock.ts';
import type { Exchanged } from './exchange.ts';
import type { GithubAnswer } from './port.ts';

/** Every end of an exchange but data. */
export type ExchangeFailure = Exclude<Exchanged, { kind: 'ok' }>;

/** @param isWrite it was one: of an outage it is not known whether it happened. */
export function answerMeaning(failure: ExchangeFailure, isWrite: boolean): GithubAnswer<never> {
  switch (failure.kind) {
    case 'refused':
      return failure;
    case 'moved':
      return { kind: 'refused', status: 301, text: 'the repository was renamed or transferred', errors: [] };
    case 'limited': {
      const { text, until } = failure;
      return { kind: 'later', later: { reason: 'limited', text, notBefore: fromMilliseconds(until) } };
    }
    case 'denied':
      return { kind: 'later', later: { reason: 'denied', text: failure.text } };
    case 'unauthorized':
      return { kind: 'later', later: { reason: 'denied', text: `${failure.text}; check the credentials` } };
    case 'outage': {
      const { reason, text, until, isSent } = failure;
      const later = { reason, text, ...(until === null ? {} : { notBefore: fromMilliseconds(until) }) };
      return { kind: isWrite && isSent ? 'lost' : 'later', later };
    }
  }
}

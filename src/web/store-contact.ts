/**
 * The web without contact with the store: it answers with the last known state, marked as stale, or with 503 if it has never read
 * any. It accepts nothing that would have to be stored.
 */
import type { RequestHandler } from 'express';
import { toMilliseconds } from '../lib/clock.ts';
import { isOutOfContact } from '../store/connection.ts';
import { type HttpRefusal, send } from './answer.ts';
import type { WebDeps } from './deps.ts';

/** On each stale answer: when contact was lost, as an HTTP date. */
const AWAY_HEADER = 'X-Store-Away-Since';

/** A header only: the body stays as it was, so that pages go on showing the last known state. */
export function markWhatIsOld(deps: Pick<WebDeps, 'contact'>): RequestHandler {
  return (_request, response, next) => {
    const contact = deps.contact();
    if (contact.kind === 'away')
      response.setHeader(AWAY_HEADER, new Date(toMilliseconds(contact.since)).toUTCString());
    next();
  };
}

/** For routes that show the state of the store. */
export function refuseUntilKnown(deps: Pick<WebDeps, 'contact'>): RequestHandler {
  return (_request, response, next) => {
    const contact = deps.contact();
    if (contact.kind === 'never') send(response, away(`the service is not ready yet: ${contact.reason}`));
    else next();
  };
}

/** @returns undefined for any other error. */
export function refusalForLostContact(error: unknown): HttpRefusal | undefined {
  return isOutOfContact(error) ? away('the store is unreachable; try again later') : undefined;
}

function away(error: string): HttpRefusal {
  return { kind: 'refused', status: 503, error, place: 'store', headers: { 'Retry-After': '5' } };
}

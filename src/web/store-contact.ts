/**
 * What the web answers while it has no contact with the store: what it knew last, marked as old; and while it never had any,
 * 503. Nothing is made up, and nothing that would have to be stored is accepted.
 */
import type { RequestHandler } from 'express';
import { toMilliseconds } from '../lib/clock.ts';
import { isOutOfContact } from '../store/connection.ts';
import { type HttpRefusal, send } from './answer.ts';
import type { WebDeps } from './deps.ts';

/** On each answer that may be out of date: since when there is no contact, as an HTTP date. */
const AWAY_HEADER = 'X-Store-Away-Since';

export function markWhatIsOld(deps: Pick<WebDeps, 'contact'>): RequestHandler {
  return (_request, response, next) => {
    const contact = deps.contact();
    if (contact.kind === 'away')
      response.setHeader(AWAY_HEADER, new Date(toMilliseconds(contact.since)).toUTCString());
    next();
  };
}

/** For routes that show what is in the store. */
export function refuseUntilKnown(deps: Pick<WebDeps, 'contact'>): RequestHandler {
  return (_request, response, next) => {
    const contact = deps.contact();
    if (contact.kind === 'never') send(response, away(`nothing is known yet: ${contact.reason}`));
    else next();
  };
}

/** @returns undefined when the error is about something else. */
export function refusalForLostContact(error: unknown): HttpRefusal | undefined {
  return isOutOfContact(error)
    ? away('this needs the store, which cannot be reached; try again later')
    : undefined;
}

function away(error: string): HttpRefusal {
  return { kind: 'refused', status: 503, error, place: 'store', headers: { 'Retry-After': '5' } };
}

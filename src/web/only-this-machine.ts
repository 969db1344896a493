/**
 * There are no users here yet, so only this machine may change anything: the connection must come from a loopback address, name
 * one as its host (a web page on another name cannot) and not have passed a proxy. Routes also insist on JSON, which a foreign
 * page's form cannot send.
 */
import type { Request } from 'express';
import type { Refusal } from './answer.ts';

const LOOPBACK_ADDRESSES = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1']);
const LOOPBACK_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i;

/** @param deed what only this machine may do, e.g. `dequeue`. @returns undefined when it may. */
export function refuseStrangers(request: Request, deed: string): Refusal | undefined {
  const stranger = strangerIn(request);
  if (stranger === undefined) return undefined;
  return {
    kind: 'refused',
    status: 403,
    error: `only this machine may ${deed}: ${stranger}`,
    place: 'request',
    headers: { Connection: 'close' },
  };
}

function strangerIn(request: Request): string | undefined {
  if (!LOOPBACK_ADDRESSES.has(request.socket.remoteAddress ?? ''))
    return 'the connection comes from elsewhere';
  if (request.headers['x-forwarded-for'] !== undefined || request.headers.forwarded !== undefined)
    return 'it passed a proxy';
  if (!LOOPBACK_HOST.test(request.headers.host ?? '')) return 'its Host header is not a loopback name';
  const { origin } = request.headers;
  if (origin !== undefined && origin !== `http://${request.headers.host}`)
    return 'it was sent by a page of another origin';
  return undefined;
}

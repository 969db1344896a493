/**
 * Whether a request comes from this machine: over a loopback connection that names a loopback host (a web page on another name
 * cannot) and has passed no proxy. Routes that believe it also insist on JSON or protobuf, which a foreign page's form cannot send.
 */
import type { Request } from 'express';

const LOOPBACK_ADDRESSES = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1']);
const LOOPBACK_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i;

/** Why it does not, for people; undefined: it does. */
export function strangerIn(request: Request): string | undefined {
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

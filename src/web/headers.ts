/** Headers of every answer. */
import type { RequestHandler } from 'express';

/** @param issuers origins at which the page signs in. */
function policy(issuers: readonly string[] = []): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    ["connect-src 'self'", ...issuers].join(' '),
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

const POLICY = policy();

/** Of the page itself: it asks the issuers for a token. @param authorities as the settings have them. */
export function pagePolicy(authorities: readonly string[]): string {
  const origins = authorities.flatMap(authority => URL.parse(authority)?.origin ?? []);
  return policy([...new Set(origins)].filter(origin => /^https?:\/\/[\w.:[\]-]+$/.test(origin)));
}

/** Before every route. The page has no inline script or style element, so the policy allows none. */
export const securityHeaders: RequestHandler = (_request, response, next) => {
  response.setHeader('Content-Security-Policy', POLICY);
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('X-Frame-Options', 'DENY');
  response.setHeader('Referrer-Policy', 'no-referrer');
  response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
  next();
};

/** Any page may read the API: browsers add no credentials, and a token is the page's own to send. */
export const readableFromAnywhere: RequestHandler = (request, response, next) => {
  if (request.method === 'GET' || request.method === 'HEAD' || request.method === 'OPTIONS') {
    response.setHeader('Access-Control-Allow-Origin', '*');
    response.setHeader('Access-Control-Expose-Headers', 'X-Next-Offset, X-Complete, X-Store-Away-Since');
  }
  response.setHeader('Cache-Control', 'no-cache');
  if (request.method !== 'OPTIONS') return next();
  response.setHeader('Access-Control-Allow-Methods', 'GET, HEAD');
  response.setHeader('Access-Control-Allow-Headers', 'Authorization, Last-Event-ID');
  response.status(204).end();
};

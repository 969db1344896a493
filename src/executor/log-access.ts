/**
 * Who may read the logs of an executor: every holder of `[executor] log_token`. The secret itself is never sent; a request carries
 * a token that is valid for one build only.
 *
 *     authorization: Bearer <HMAC-SHA-256 of "gatehouse log <build>" under the secret, in hex>
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../lib/secret.ts';

/** Value of the `authorization` header for the log of one build. */
export function logAuthorization(secret: Secret, build: string): string {
  return `Bearer ${createHmac('sha256', secret.reveal()).update(`gatehouse log ${build}`).digest('hex')}`;
}

/** @param secret undefined: every client that reaches the port may read (it is a loopback address then). */
export function mayReadLog(secret: Secret | undefined, build: string, header: string | undefined): boolean {
  if (secret === undefined) return true;
  const [wanted, given] = [logAuthorization(secret, build), header ?? ''].map(text => Buffer.from(text));
  return wanted !== undefined && given?.length === wanted.length && timingSafeEqual(wanted, given);
}

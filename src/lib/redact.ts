/**
 * Removes secrets from texts that leave the process: log lines, errors, spans, reports.
 *
 *     redact('fetch https://ci:hunter2@git.example.org/a failed: hunter2', ['hunter2'])
 *       → 'fetch https://***@git.example.org/a failed: ***'
 */
import { MASK, type Secret } from './secret.ts';

/** Userinfo of everything that looks like a URL; the host stays readable. Linear: no two quantifiers can share a character. */
const USERINFO = /([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/?#"'<>]*@/gi;

/** Shorter secrets are not masked by value: that would hide ordinary words and thereby reveal the secret. */
const SHORTEST_MASKED = 4;

/** Replaces the userinfo of every URL in `text` by `***`. */
export function stripUserinfo(text: string): string {
  return text.replace(USERINFO, `$1${MASK}@`);
}

/**
 * `text` without URL userinfo and without the given secrets, also where they appear percent-encoded. Longer secrets go
 * first, so that one containing another leaves no remainder. Secrets of fewer than four characters are not masked.
 */
export function redact(text: string, secrets: Iterable<string | Secret> = []): string {
  const masked = new Set<string>();
  for (const secret of secrets) {
    const value = typeof secret === 'string' ? secret : secret.reveal();
    if (value.length < SHORTEST_MASKED) continue;
    masked.add(value);
    masked.add(encodeURIComponent(value.toWellFormed()));
  }
  let result = text;
  for (const value of [...masked].sort((a, b) => b.length - a.length))
    result = result.replaceAll(value, MASK);
  return stripUserinfo(result);
}

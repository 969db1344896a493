/**
 * What GitHub wrote, as one line that may be logged and shown: bounded, without control characters, and without anything that
 * looks like one of its tokens.
 */

import { stripUserinfo } from '../../../src/lib/redact.ts';
import { MASK } from '../../../src/lib/secret.ts';

/** Longest text, in characters. */
const LONGEST = 400;

/** Tokens of GitHub by their prefixes, JSON web tokens, and the value of an `Authorization` header. */
const TOKENS =
  /\b(?:gh[a-z]_\w{8,}|github_pat_\w{8,}|v1\.[0-9a-f]{40}|eyJ[\w-]{8,}\.[\w-]+\.[\w-]+|(?:basic|bearer|token) [\w.+/=-]{16,})/gi;

/** @param text of any length and content. */
export function hostText(text: string): string {
  const line = text
    .slice(0, LONGEST * 4)
    .toWellFormed()
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  const shown = stripUserinfo(line.replace(TOKENS, MASK));
  return shown.length > LONGEST ? `${shown.slice(0, LONGEST - 1).toWellFormed()}…` : shown;
}

/** What Gerrit, or a machine before it, wrote, made fit to show: bounded, without control characters and without our secrets. Pure. */
import { redact } from '../../../src/lib/redact.ts';
import type { Secret } from '../../../src/lib/secret.ts';

const LONGEST = 1_000;
const LONGEST_LINE = 400;

/** Gerrit's own words with their lines; at most 1 000 characters. @param secrets masked wherever they stand. */
export function gerritText(text: string, secrets: readonly Secret[]): string {
  const lines = text
    .slice(0, LONGEST * 4)
    .toWellFormed()
    .split(/\r?\n/)
    .map(line => line.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trimEnd());
  return cut(redact(lines.join('\n').trim(), secrets), LONGEST);
}

/** In one line; at most 400 characters. */
export function gerritLine(text: string, secrets: readonly Secret[]): string {
  return cut(gerritText(text, secrets).replace(/\s+/g, ' '), LONGEST_LINE);
}

function cut(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest - 1).toWellFormed()}…` : text;
}

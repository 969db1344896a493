/**
 * Replaces secrets in what a job writes, in the forms in which programs print them: as they are, line by line, in JSON, in URLs and in
 * base64.
 *
 *     const masks = secretMasks(['hunter2']);                  // ['hunter2', 'aHVudGVyMg==', …]
 *     masked('password: hunter2', masks)                       // 'password: ***'
 *
 * It helps against accidents: a job that wants to print a secret can always write it in another form. Secrets of fewer than four
 * characters are not masked: that would hide ordinary words, and thereby reveal the secret.
 */
import { MASK } from './secret.ts';

const SHORTEST = 4;
const SHORTEST_LINE = 8;
/** Of one text: a file of many lines is masked by its first ones. */
const MOST_LINES = 500;

/** @returns texts without line breaks, the longest first, so that one containing another leaves no remainder. */
export function secretMasks(secrets: readonly string[]): readonly string[] {
  const found = new Set(secrets.flatMap(formsOf));
  return [...found].sort((a, b) => b.length - a.length);
}

function formsOf(secret: string): readonly string[] {
  const text = secret.trim();
  if (text.length < SHORTEST) return [];
  const lines = text.split(/\r?\n/);
  const whole = [
    inJson(text),
    encodeURIComponent(text.toWellFormed()),
    ...[text, secret, `${text}\n`].map(each => Buffer.from(each).toString('base64')),
  ];
  if (lines.length === 1) return [text, ...whole];
  const parts = lines
    .slice(0, MOST_LINES)
    .map(line => line.trim())
    .filter(line => line.length >= SHORTEST_LINE)
    // Results of Ansible have what a command printed line by line.
    .flatMap(line => [line, inJson(line)]);
  return [...parts, ...whole];
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** @param masks from {@link secretMasks}. */
export function masked(text: string, masks: readonly string[]): string {
  let result = text;
  for (const mask of masks) result = result.replaceAll(mask, MASK);
  return result;
}

/** The same for bytes, which may be no text. */
export function maskedBytes(bytes: Buffer, masks: readonly Buffer[]): Buffer {
  let result = bytes;
  for (const mask of masks) {
    let at = result.indexOf(mask);
    if (at < 0) continue;
    const parts: Buffer[] = [];
    let from = 0;
    for (; at >= 0; at = result.indexOf(mask, from)) {
      parts.push(result.subarray(from, at), Buffer.from(MASK));
      from = at + mask.length;
    }
    result = Buffer.concat([...parts, result.subarray(from)]);
  }
  return result;
}

/** The same for all texts of a value of JSON, names of fields included. */
export function maskedDeep<T>(value: T, masks: readonly string[]): T {
  if (masks.length === 0) return value;
  return deep(value, masks) as T;
}

function deep(value: unknown, masks: readonly string[]): unknown {
  if (typeof value === 'string') return masked(value, masks);
  if (Array.isArray(value)) return value.map(each => deep(each, masks));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [masked(name, masks), deep(each, masks)]),
  );
}

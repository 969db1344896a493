/** Reading single fields of a webhook's payload, of which nothing is certain. */
import type { Payload } from './payload.ts';

/** Undefined: not a text, or longer than `most` characters. */
export function payloadText(payload: Payload, path: string, most: number): string | undefined {
  const value = payload.get(path);
  return typeof value === 'string' && value.length <= most ? value : undefined;
}

/** A whole number above 0; undefined: no such. */
export function payloadNumber(payload: Payload, path: string): number | undefined {
  const value = payload.get(path);
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

/** Milliseconds since 1970 of an ISO time, or of seconds as in pushes; undefined: neither. */
export function payloadTime(payload: Payload, path: string): number | undefined {
  const value = payload.get(path);
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value * 1000;
  const time = typeof value === 'string' && value.length <= 40 ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** A full commit id; undefined: no such. */
export function payloadCommit(payload: Payload, path: string): string | undefined {
  const value = payload.get(path);
  return typeof value === 'string' && /^[0-9a-f]{40}([0-9a-f]{24})?$/.test(value) ? value : undefined;
}

/** Characters; GitHub takes no longer branch name. */
const LONGEST_BRANCH = 255;

/** Base branch of the pull request that the payload holds. Absent: it names none that GitHub could have. */
export function payloadBase(payload: Payload): { readonly base?: string } {
  const base = payloadText(payload, 'pull_request.base.ref', LONGEST_BRANCH);
  return base?.isWellFormed() === true ? { base } : {};
}

/** The text, cut so that its JSON has at most `bytes` bytes. */
export function cutJson(text: string, bytes: number): string {
  let cut = text.slice(0, bytes).toWellFormed();
  // Each round removes at least an eighth, so a text of escapes takes about twenty.
  while (Buffer.byteLength(JSON.stringify(cut)) > bytes)
    cut = cut.slice(0, Math.floor(cut.length * 0.875)).toWellFormed();
  return cut;
}

/**
 * The data of a record made small: deflated, as base64, because a record is JSON in every version. For what is written once and read
 * once, and names the same things again and again: a list of spans becomes a fifteenth, a chain of changes a fifth.
 */
import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';

/** Characters; below, the work costs more than the bytes. */
const PACKED_FROM = 2_000;
/** Bytes. No record is that large; what would become larger is broken. */
const LARGEST = 64 * 1024 * 1024;

/** @returns undefined when it is better left as it is. */
export function packed(json: string): string | undefined {
  if (json.length < PACKED_FROM) return undefined;
  return deflateRawSync(json, { level: constants.Z_BEST_SPEED }).toString('base64');
}

/** @throws Error when it was not made by {@link packed}. */
export function unpacked(text: string): string {
  return inflateRawSync(Buffer.from(text, 'base64'), { maxOutputLength: LARGEST }).toString('utf8');
}

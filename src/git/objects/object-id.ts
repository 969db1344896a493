/** The name of a git object: 40 lower-case hex digits (SHA-1 repositories only; git's SHA-256 format is not supported). */
declare const brand: unique symbol;
/** Checked once, where it comes from outside: {@link parseObjectId}, {@link isObjectId}. */
export type ObjectId = string & { readonly [brand]: 'ObjectId' };

const PATTERN = /^[0-9a-f]{40}$/;

/** False also for shortened ids, and for upper-case digits. */
export function isObjectId(text: string): text is ObjectId {
  return PATTERN.test(text);
}

/** @throws RangeError when `text` is not 40 lower-case hex digits. */
export function parseObjectId(text: string): ObjectId {
  if (!isObjectId(text)) throw new RangeError(`not a git object id (40 hex digits): ${JSON.stringify(text)}`);
  return text;
}

/** Cuts texts to the limits of a host, visibly: what is too long is refused as a whole. Pure. */

/**
 * Cuts at the end of a line, or inside a single line that is too long.
 *
 * @param more appended to a text that was cut, e.g. a link to all of it; shorter than `limit`.
 * @returns at most `limit` UTF-16 units, well-formed if `text` is.
 */
export function cutAtLine(text: string, limit: number, more: string): string {
  if (text.length <= limit) return text;
  const room = Math.max(0, limit - more.length - 2);
  const end = text.lastIndexOf('\n', room);
  return `${end > 0 ? text.slice(0, end) : sliceWhole(text, room)}\n\n${more}`.slice(0, limit);
}

/** One line of at most `limit` UTF-16 units; a cut one ends with `…`. */
export function cutLine(text: string, limit: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= limit ? line : `${sliceWhole(line, limit - 1)}…`;
}

/** What a stranger wrote as one line that controls no terminal, of at most `limit` UTF-16 units, well-formed. */
export function strangersLine(text: string, limit: number): string {
  // The part that is looked at is bounded before anything is replaced in it.
  const line = cutLine(text.slice(0, 4 * limit).toWellFormed(), limit);
  return line.replace(/[\p{Cc}\p{Cf}]/gu, '\ufffd');
}

/** At most `limit` bytes of UTF-8; a cut text ends with `…`. */
export function cutBytes(text: string, limit: number): string {
  if (Buffer.byteLength(text) <= limit) return text;
  const bytes = Buffer.from(text).subarray(0, limit - 3);
  // A sequence cut in its middle decodes to the replacement character, which is longer than what it replaces.
  const whole = bytes.toString('utf8').replace(/\ufffd+$/, '');
  return `${whole}…`;
}

/** The first `length` units, without half of a surrogate pair at the end. */
function sliceWhole(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

/**
 * What people wrote about a change, for the message of the commit that lands it. It is part of the change, so it is pinned when the
 * item is made: what is edited at the host afterwards does not change the commit that was tested.
 */

/** At most 8 KB in all, see {@link boundedMergeText}. */
export interface MergeText {
  /** One line. */
  readonly title: string;
  /** May be empty. */
  readonly body: string;
  /** Those who approved, as `Ada <ada@example.org>` or by login. */
  readonly reviewers: readonly string[];
}

const MOST_TITLE = 500;
const MOST_BODY = 5_500;
const MOST_REVIEWERS = 20;
const MOST_REVIEWER = 100;
/** Bytes of one message: a request to a merger holds those of all items ahead. */
const MOST_MESSAGE = 4_000;

/** Cuts foreign text to size, between characters. Sizes are bytes of UTF-8. */
export function boundedMergeText({ title, body, reviewers }: MergeText): MergeText {
  return {
    title: cut(oneLine(title), MOST_TITLE),
    body: cut(body.replaceAll('\r\n', '\n').replaceAll('\0', ''), MOST_BODY),
    reviewers: reviewers.slice(0, MOST_REVIEWERS).map(name => cut(oneLine(name), MOST_REVIEWER)),
  };
}

/**
 * The message of a squash: title, body, and a trailer for each reviewer. A long body is cut, the trailers stay.
 *
 *     Let people log in
 *
 *     With a password.
 *
 *     Reviewed-by: Ada <ada@example.org>
 */
export function squashMessage(text: MergeText): string {
  const { title, body, reviewers } = boundedMergeText(text);
  const trailers = reviewers.map(name => `Reviewed-by: ${name}`).join('\n');
  const room = MOST_MESSAGE - Buffer.byteLength(title) - Buffer.byteLength(trailers);
  return `${[title, cut(body.trim(), room), trailers].filter(Boolean).join('\n\n')}\n`;
}

function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is dropped
  return text.replaceAll(/[\u0000-\u001f\u007f]+/g, ' ').trim();
}

function cut(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text.toWellFormed();
  const kept = Buffer.from(text)
    .subarray(0, Math.max(0, bytes - 3))
    .toString('utf8');
  return `${kept.replace(/\uFFFD+$/, '').trimEnd()}…`;
}

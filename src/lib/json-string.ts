const BACKSLASH = 0x5c;

/**
 * Position of the quote that ends a JSON string, found by the engine's own search: reading character by character takes twice as long.
 *
 * @param from within the string: behind its opening quote, or further on, but not behind a backslash.
 * @returns the length of the text when the string does not end in it.
 */
export function endOfJsonString(text: string, from: number): number {
  let quote = text.indexOf('"', from);
  while (quote >= 0 && isEscaped(text, from, quote)) quote = text.indexOf('"', quote + 1);
  return quote < 0 ? text.length : quote;
}

/** After an odd number of backslashes. */
function isEscaped(text: string, from: number, quote: number): boolean {
  let begin = quote;
  while (begin > from && text.charCodeAt(begin - 1) === BACKSLASH) begin -= 1;
  return (quote - begin) % 2 === 1;
}

/** Longest text of a collector we repeat. */
const MOST_TEXT = 300;

/** What a collector says, as it may stand in a log line or on a page: on one line, printable, not at any length. */
export function collectorText(text: string): string {
  return text
    .slice(0, 4 * MOST_TEXT)
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, MOST_TEXT);
}

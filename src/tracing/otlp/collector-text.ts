/** Longest text of a collector that is repeated. */
const MOST_TEXT = 300;

/** A collector's message, made safe for a log line or a page: one line, printable, bounded. */
export function collectorText(text: string): string {
  return text
    .slice(0, 4 * MOST_TEXT)
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, MOST_TEXT);
}

/**
 * A finding as people read it, with its line and a caret below the place:
 *
 *     .zuul.yaml:3:5: error: unknown key "tiemout" of job unit, did you mean "timeout"? [unknown-key]
 *         3 |     tiemout: 60
 *           |     ^
 */
import type { Finding } from './lint-repository.ts';

/** Characters of a line that are shown. */
const WIDTH = 100;

/** @returns without a line end. */
export function findingText({ path, line, column, severity, code, text, snippet }: Finding): string {
  const head = visible(`${path}:${line}:${column}: ${severity}: ${text} [${code}]`);
  if (snippet === undefined || snippet.trim() === '') return head;
  const number = String(line).padStart(5);
  // A long line is shown from a little before the place; a tab would move the caret.
  const from = Math.max(0, column - 1 - WIDTH + 20);
  const shown = visible(snippet.slice(from, from + WIDTH).replaceAll('\t', '→'));
  const caret = ' '.repeat(Math.max(0, column - 1 - from));
  return [head, `${number} | ${shown}`, `${' '.repeat(5)} | ${caret}^`].join('\n');
}

/** Without what would move the cursor or turn the text of the terminal: names come from the file. */
function visible(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, '·');
}

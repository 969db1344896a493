/** Finds lines in a log. Pure but for the pauses, in which the page stays usable. */
import { parseLogLine } from '../../lib/log-line.ts';
import { CONTROL_SEQUENCES } from '../../lib/terminal-sequences.ts';
import type { LogBuffer } from './log-buffer.ts';
import { pacer } from './pacer.ts';

/** Found lines that are kept. */
export const MOST_FOUND = 10_000;

const ERROR = /\b(?:error|fatal|failed|failure|traceback|exception|panic(?:ked)?|assertionerror)\b/i;
const NO_ERROR = /\b(?:0|no) (?:errors?|fail(?:ed|ures?))\b|\bfailed=0\b/i;

/** Case does not matter. @returns numbers of lines; undefined: aborted. */
export async function findLines(
  log: LogBuffer,
  wanted: string,
  signal: AbortSignal,
): Promise<readonly number[] | undefined> {
  const needle = wanted.toLowerCase();
  const found: number[] = [];
  const fits = (text: string) => text.toLowerCase().includes(needle);
  const breath = pacer();
  for (const { first, texts } of log.groups()) {
    for (const [place, text] of texts.entries()) {
      const plain = withoutControls(text);
      // The time before a line is not searched; most lines need not be taken apart to know.
      if (fits(plain) && fits(parseLogLine(plain).text)) found.push(first + place);
      if (found.length === MOST_FOUND) return found;
    }
    await breath();
    if (signal.aborted) return undefined;
  }
  return found;
}

/** The first line of a job's output that looks like an error. Undefined: none does, or aborted. */
export async function firstError(log: LogBuffer, signal: AbortSignal): Promise<number | undefined> {
  const breath = pacer();
  for (const { first, texts } of log.groups()) {
    const place = texts.findIndex(looksLikeError);
    if (place >= 0) return first + place;
    await breath();
    if (signal.aborted) return undefined;
  }
  return undefined;
}

function looksLikeError(text: string): boolean {
  const plain = withoutControls(text);
  return ERROR.test(plain) && !NO_ERROR.test(plain) && parseLogLine(plain).writer === 'job';
}

function withoutControls(text: string): string {
  return text.includes('\x1b') ? text.replaceAll(CONTROL_SEQUENCES, '') : text;
}
